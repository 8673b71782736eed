import { readSnapshot, type Snapshot } from '../../analytics/index.ts'
import {
  FEEDBACK_VERDICTS,
  type Feedback,
  type FeedbackVerdict,
  type HourHistory,
  hoursCompared,
  LEARNT_FOR,
  type LocalTime,
  localTime,
  type RecentCounts,
  type TimeRange,
  type UsualCounts,
  usualCountsInTurns,
  type Verdict,
} from '../../detection/index.ts'
import { DAY, floorTo, MINUTE, Yielder } from '../../lib/index.ts'
import { readPauses, specialDaysOf } from '../../management/index.ts'
import type { Kysely, Tables } from '../../store/index.ts'
import { type EventCounts, historyOf, readEventCounts } from './event-counts.ts'
import { markedDays, publicHolidays } from './holidays.ts'
import { type Counting, type CountsOutcome, judgeLearnt } from './judge-counts.ts'
import { isSettled, LearntCache, learningPeriod, ofEachStore } from './learnt-cache.ts'
import type { Unjudged } from './unjudged.ts'

/** The types that learn what is usual for a site's events. */
const LEARNING = ['data_volume', 'data_freshness']

/** @param probeType the type of an alert's probe */
export const learnsFromFeedback = (probeType: string): boolean => LEARNING.includes(probeType)

/**
 * Reads people's answers to a site's alerts about its counts. An unresolved alert lasts until `now`.
 *
 * @param now the end of the counts
 */
async function readFeedback(db: Kysely<Tables>, siteId: string, now: number): Promise<Feedback[]> {
  const rows = await db
    .selectFrom('alert_feedback')
    .select(['event_name', 'verdict', 'began_at', 'ended_at'])
    .where('site_id', '=', siteId)
    .orderBy('alert_id')
    .execute()
  return rows.flatMap(({ event_name, verdict: text, began_at, ended_at }) => {
    // The column is text, and another version may know more verdicts.
    const verdict = FEEDBACK_VERDICTS.find((known) => known === text)
    return verdict === undefined ? [] : [{ verdict, name: event_name, from: began_at, to: ended_at ?? now }]
  })
}

/** No one follows more links to alerts. */
const MOST_WIDENING_SHOWN = 5

/** Reads the newest answers that have widened what passes of a site's events (null), or of one of them. */
export async function wideningFeedback(
  db: Kysely<Tables>,
  siteId: string,
  eventName: string | null,
  now: number,
): Promise<{ alert_id: string; given_at: number }[]> {
  return db
    .selectFrom('alert_feedback')
    .select(['alert_id', 'given_at'])
    .where('site_id', '=', siteId)
    .where('event_name', eventName === null ? 'is' : '=', eventName)
    .where('verdict', '=', 'not_a_problem' satisfies FeedbackVerdict)
    .where(({ eb, or }) => or([eb('ended_at', 'is', null), eb('ended_at', '>', now - LEARNT_FOR)]))
    .orderBy('given_at', 'desc')
    .orderBy('alert_id')
    .limit(MOST_WIDENING_SHOWN)
    .execute()
}

/** A site's events of the last day, and what is usual for them. */
interface SiteEvents {
  readonly recent: RecentCounts
  readonly usual: UsualCounts
  /** Start of the first whole hour in which the site has rows; null when there is none. */
  readonly knownFrom: number | null
  readonly outages: readonly TimeRange[]
  /** Public holidays and marked days in the weeks compared with, and holidays of the next day. */
  readonly special: readonly TimeRange[]
  /** End of the counts, a whole minute. */
  readonly end: number
}

interface Judged {
  /** How many weeks to compare with. */
  weeks: number
  /** True: each event. False: all of them together, which are fewer rows; the newest counts then have no names. */
  byName: boolean
}

/**
 * Judges a site's events against what is usual for them.
 *
 * @param unjudged see `judgeCounts`
 * @param whenRefused see `judgeCounts`
 */
export async function judgeEvents(
  counting: Counting,
  judged: Judged,
  judge: (events: SiteEvents) => Verdict | Promise<Verdict>,
  unjudged: (events: SiteEvents) => Unjudged,
  whenRefused: 'warning' | 'critical',
): Promise<CountsOutcome> {
  const { from, read, eventsOf } = await readingOf(counting, judged)
  return judgeLearnt(counting, from, read, eventsOf, judge, unjudged, whenRefused)
}

/**
 * Returns the same events for a question about what is expected.
 *
 * @param cache where to keep what is usual. Questions about earlier times need their own cache: in the shared one they would
 *   replace what the next run needs.
 */
export async function siteEvents(counting: Counting, weeks: number, cache?: UsualCache): Promise<SiteEvents> {
  const { from, read, eventsOf } = await readingOf(counting, { weeks, byName: true }, cache)
  const range = { from: floorTo(from, DAY), to: counting.now + MINUTE }
  return eventsOf(await readSnapshot(counting.store, counting.site.site_no, range, read))
}

/** How a site's events are read and completed by what is usual, which comes from the cache if it is known. */
interface Reading {
  /** The oldest instant that it reads, epoch ms. */
  from: number
  read: (snapshot: Snapshot) => Promise<EventCounts>
  eventsOf: (counts: EventCounts) => Promise<SiteEvents>
}

async function readingOf(
  { store, site, now }: Counting,
  { weeks, byName }: Judged,
  cache = cacheOf(store),
): Promise<Reading> {
  const clock = localTime(site.timezone)
  const end = floorTo(now, MINUTE)
  const compared = hoursCompared(end, weeks)
  const holidays = await publicHolidays(site.timezone, clock, { from: compared.from, to: end + DAY })
  const marked = markedDays(await specialDaysOf(store.reports, site.id), clock)
  const special = [...holidays, ...marked]
  const pauses = await readPauses(store.reports, site, compared.from, end)
  const feedback = await readFeedback(store.reports, site.id, end)
  const key = `${site.site_no} ${site.timezone} ${weeks} ${JSON.stringify(marked)} ${versionOf(feedback, end)}`
  const cached = cache.get(key, end)
  return {
    from: cached === null ? Math.min(compared.from, end - 2 * DAY) : end - 2 * DAY,
    // What is learnt is shared by all callers, so learning always reads names.
    read: (snapshot) =>
      readEventCounts(snapshot, end, cached === null ? compared : null, pauses, byName || cached === null),
    eventsOf: async (counts) => {
      const usual = cached ?? (await learn({ ...historyOf(counts, end), special, feedback }, clock, end, weeks))
      if (cached === null) cache.set(key, end, learningPeriod(site.site_no, end, isSettled(usual.days)), usual)
      const { recent, knownFrom, outages } = counts
      return { recent, usual, knownFrom, outages, special, end }
    },
  }
}

/** Yields after each name: one takes about 1 ms, and a site may have hundreds. */
function learn(history: HourHistory, clock: LocalTime, end: number, weeks: number): Promise<UsualCounts> {
  const others = new Yielder()
  return usualCountsInTurns(history, clock, end, weeks, () => others.yield())
}

/** Changes when feedback is given or taken back, so that it counts from the next run on. The moving end of an open alert is left out. */
const versionOf = (feedback: readonly Feedback[], now: number): string =>
  feedback.map(({ verdict, name, from, to }) => JSON.stringify([verdict, name, from, to < now && to])).join()

/** Cached sites; one takes some kilobytes, and two more for each of its events. */
const SITES_KEPT = 1_000

type UsualCache = LearntCache<UsualCounts>

/** Returns a function that finds the cache of a store. Callers that judge as of their own times need their own. */
export const usualCaches = (): ((store: { reports: object }) => UsualCache) =>
  ofEachStore(() => new LearntCache<UsualCounts>(SITES_KEPT))

const cacheOf = usualCaches()
