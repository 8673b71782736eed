import { readSnapshot, type Snapshot } from '../../analytics/index.ts'
import {
  FEEDBACK_VERDICTS,
  type Feedback,
  type HourHistory,
  hoursCompared,
  type LocalTime,
  localTime,
  type RecentCounts,
  type TimeRange,
  type UsualCounts,
  usualCountsInTurns,
  type Verdict,
} from '../../detection/index.ts'
import { DAY, floorTo, MINUTE, Yielder } from '../../lib/index.ts'
import { specialDaysOf } from '../../management/index.ts'
import type { Kysely, Tables } from '../../store/index.ts'
import { type EventCounts, historyOf, readEventCounts } from './event-counts.ts'
import { markedDays, publicHolidays } from './holidays.ts'
import { type Counting, type CountsOutcome, judgeLearnt } from './judge-counts.ts'
import { isSettled, LearntCache, learningPeriod, ofEachStore } from './learnt-cache.ts'
import type { Unjudged } from './unjudged.ts'

/** The types that judge by what is usual for a site's events. */
const LEARNING = ['data_volume', 'data_freshness']

/** @param probeType of an alert */
export const learnsFromFeedback = (probeType: string): boolean => LEARNING.includes(probeType)

/**
 * What people said of a site's alerts about its counts. An alert that is not resolved lasts until now.
 *
 * @param now what the counts end at
 */
async function readFeedback(db: Kysely<Tables>, siteId: string, now: number): Promise<Feedback[]> {
  const rows = await db
    .selectFrom('alert_feedback')
    .select(['event_name', 'verdict', 'began_at', 'ended_at'])
    .where('site_id', '=', siteId)
    .orderBy('alert_id')
    .execute()
  return rows.flatMap(({ event_name, verdict: text, began_at, ended_at }) => {
    // The column is text; another version may know more.
    const verdict = FEEDBACK_VERDICTS.find((known) => known === text)
    return verdict === undefined ? [] : [{ verdict, name: event_name, from: began_at, to: ended_at ?? now }]
  })
}

/** A site's events of the last day, and what is usual for them. */
interface SiteEvents {
  readonly recent: RecentCounts
  readonly usual: UsualCounts
  /** Start of the first whole hour of which the site has rows; null when there is none. */
  readonly knownFrom: number | null
  readonly outages: readonly TimeRange[]
  /** Public holidays of the weeks that are compared with, and of the next day. */
  readonly special: readonly TimeRange[]
  /** What the counts end at, a whole minute. */
  readonly end: number
}

/** What of a site's events is judged. */
interface Judged {
  /** That are compared with. */
  weeks: number
  /** Each event; else all of them together, which are fewer rows: the newest counts then have no names. */
  byName: boolean
}

/**
 * Judges the events of a site next to what is usual for them.
 *
 * @param unjudged what to say while nothing can be judged
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
 * The same events for someone who asks what is expected.
 *
 * @param cache where what is usual is kept: what is asked of an earlier time has its own, or it would take the place of what
 * the next run needs
 */
export async function siteEvents(counting: Counting, weeks: number, cache?: UsualCache): Promise<SiteEvents> {
  const { from, read, eventsOf } = await readingOf(counting, { weeks, byName: true }, cache)
  const range = { from: floorTo(from, DAY), to: counting.now + MINUTE }
  return eventsOf(await readSnapshot(counting.store, counting.site.site_no, range, read))
}

/** How a site's events are read, and what is made of them: what is usual comes from the cache where it is known already. */
interface Reading {
  /** The oldest instant that is read. */
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
  const feedback = await readFeedback(store.reports, site.id, end)
  const key = `${site.site_no} ${site.timezone} ${weeks} ${JSON.stringify(marked)} ${versionOf(feedback, end)}`
  const cached = cache.get(key, end)
  return {
    from: cached === null ? Math.min(compared.from, end - 2 * DAY) : end - 2 * DAY,
    // What is learnt is the same for all, with names.
    read: (snapshot) => readEventCounts(snapshot, end, cached === null ? compared : null, byName || cached === null),
    eventsOf: async (counts) => {
      const usual = cached ?? (await learn({ ...historyOf(counts, end), special, feedback }, clock, end, weeks))
      if (cached === null) cache.set(key, end, learningPeriod(site.site_no, end, isSettled(usual.days)), usual)
      const { recent, knownFrom, outages } = counts
      return { recent, usual, knownFrom, outages, special, end }
    },
  }
}

/** A name takes about a millisecond, and a site may have hundreds. */
function learn(history: HourHistory, clock: LocalTime, end: number, weeks: number): Promise<UsualCounts> {
  const others = new Yielder()
  return usualCountsInTurns(history, clock, end, weeks, () => others.yield())
}

/** Feedback that is given or taken back counts from the next run on. Of an alert that still lasts the end moves, and nothing else. */
const versionOf = (feedback: readonly Feedback[], now: number): string =>
  feedback.map(({ verdict, name, from, to }) => JSON.stringify([verdict, name, from, to < now && to])).join()

/** Sites of which it is kept; one takes some kilobytes, and two for each of its events. */
const SITES_KEPT = 1_000

type UsualCache = LearntCache<UsualCounts>

/** Finds the cache of a store: everyone who judges as of a time of their own has one. */
export const usualCaches = (): ((store: { reports: object }) => UsualCache) =>
  ofEachStore(() => new LearntCache<UsualCounts>(SITES_KEPT))

const cacheOf = usualCaches()
