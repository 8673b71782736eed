import type { Snapshot } from '../../analytics/index.ts'
import {
  eventsIn,
  type PastFields,
  type PresenceBucket,
  type PresenceHistory,
  type PresenceWeeks,
  type Verdict,
} from '../../detection/index.ts'
import { DAY, floorTo, HOUR, MINUTE, Yielder } from '../../lib/index.ts'
import { NO_EVENT, type TimeRange } from '../../rollups/index.ts'
import { type Counting, type CountsOutcome, judgeLearnt } from './judge-counts.ts'
import { isSettled, LearntCache, learningPeriod, ofEachStore } from './learnt-cache.ts'
import { earlierRange, type PresenceReader, usualRange } from './presence-counts.ts'
import { lastDay, type Timeline } from './timeline.ts'
import type { Unjudged } from './unjudged.ts'

/** Newest part of the last day, read in slots. */
const NEWEST_MS = 2 * HOUR

/** What a run reads from the last day, and what it learns from the weeks before. */
export interface PastReading<R, W, P> {
  /** Distinguishes this from everything else learnt about the site. */
  key: string
  /** Whether to read the three weeks before the last one, too. */
  hasEarlier: boolean
  /** Reads at least this much of the end in slots, ms. */
  newestMs?: number
  recent: (snapshot: Snapshot, timeline: Timeline, end: number) => Promise<R>
  /** Reads what came before the day that ends at `end`. */
  weeks: (snapshot: Snapshot, end: number) => Promise<W>
  /** Start of the first bucket of the weeks, epoch ms; infinite when there is none. */
  firstOf: (weeks: W) => number
  learn: (weeks: W) => Promise<P>
  /** How many fields the cache keeps for it. */
  sizeOf: (past: P) => number
}

/** Fields whose usual values are kept: 0.5 KB each. A shop has about 100 over all probes. */
const FIELDS_KEPT = 60_000

const cacheOf = ofEachStore(() => new LearntCache<unknown>(FIELDS_KEPT))

/**
 * Judges the fields of the last day against what is usual. Learning takes many times as long as everything else, so it is repeated only every few
 * hours.
 *
 * @param judge gets the end of the last day, a whole minute
 * @param unjudged see `judgeCounts`
 */
export function judgeWithPast<R, W, P>(
  counting: Counting,
  reading: PastReading<R, W, P>,
  judge: (recent: R, past: P, end: number) => Verdict,
  unjudged: (recent: R, past: P) => Unjudged,
): Promise<CountsOutcome> {
  const { store, site } = counting
  const end = floorTo(counting.now, MINUTE)
  const timeline = lastDay(end, Math.max(NEWEST_MS, reading.newestMs ?? 0))
  const cache = cacheOf(store) as LearntCache<P>
  const key = `${site.site_no} ${reading.key}`
  const kept = cache.get(key, end)
  const pastOf =
    ({ weeks, period }: Weeks<W>) =>
    async (): Promise<P> => {
      const past = await reading.learn(weeks)
      cache.set(key, end, period, past, reading.sizeOf(past))
      return past
    }
  return judgeLearnt(
    counting,
    oldestRead(end, reading.hasEarlier),
    async (snapshot) => {
      const learn = kept === null ? pastOf(await readWeeks(snapshot, reading, end)) : () => kept
      return { learn, recent: await reading.recent(snapshot, timeline, end) }
    },
    async ({ learn, recent }) => ({ past: await learn(), recent }),
    ({ past, recent }) => judge(recent, past, end),
    ({ past, recent }) => unjudged(recent, past),
  )
}

interface Weeks<W> {
  weeks: W
  /** How long what is learnt from them is valid. */
  period: TimeRange
}

async function readWeeks<W>(
  snapshot: Snapshot,
  { weeks: read, firstOf }: Pick<PastReading<unknown, W, unknown>, 'weeks' | 'firstOf'>,
  end: number,
): Promise<Weeks<W>> {
  const period = learningPeriod(snapshot.siteNo, end, true)
  const weeks = await read(snapshot, period.from)
  if (isSettled((usualRange(period.from).to - firstOf(weeks)) / DAY)) return { weeks, period }
  const ofHour = learningPeriod(snapshot.siteNo, end, false)
  return { weeks: await read(snapshot, ofHour.from), period: ofHour }
}

/** Start of the weeks to learn from, which may end some hours before the last day begins. */
const oldestRead = (end: number, hasEarlier: boolean): number =>
  (hasEarlier ? earlierRange(end - DAY) : usualRange(end - DAY)).from

/** A kind of event: its recent fields and what is usual for them. */
export interface Presence<F extends string> {
  readonly kind: string
  readonly recent: readonly PresenceBucket<F>[]
  readonly past: PastFields<F>
}

/** The same in the form of the detectors that judge kinds of events. */
export const presenceHistoryOf = <F extends string>({ kind, recent, past }: Presence<F>): PresenceHistory<F> => ({
  event_name: kind === NO_EVENT ? null : kind,
  recent,
  past,
})

/** Number of events with any field, in the last day and the week before it. */
export const eventsSeen = <F extends string>(kinds: readonly Presence<F>[]): number =>
  kinds.reduce(
    (seen, { recent, past }) => seen + past.events + recent.reduce((sum, bucket) => sum + eventsIn(bucket), 0),
    0,
  )

export interface PresenceReading<F extends string> extends PresenceReader<F> {
  key: string
  hasEarlier?: boolean
  newestMs?: number
  learn: (weeks: PresenceWeeks<F>) => PastFields<F>
}

/** Like `judgeWithPast`, for the fields of each kind of event. */
export function judgePresence<F extends string>(
  counting: Counting,
  { key, hasEarlier = false, newestMs = 0, learn, recent, weeks }: PresenceReading<F>,
  judge: (kinds: readonly Presence<F>[], end: number) => Verdict,
  unjudged: (kinds: readonly Presence<F>[]) => Unjudged,
): Promise<CountsOutcome> {
  const kindsOf = (
    now: ReadonlyMap<string, readonly PresenceBucket<F>[]>,
    past: ReadonlyMap<string, PastFields<F>>,
  ): Presence<F>[] =>
    Array.from(new Set([...now.keys(), ...past.keys()]), (kind) => ({
      kind,
      recent: now.get(kind) ?? [],
      past: past.get(kind) ?? learn({ usual: [] }),
    }))
  return judgeWithPast(
    counting,
    {
      key,
      hasEarlier,
      newestMs,
      recent,
      weeks: (snapshot, end) => weeks(snapshot, end, hasEarlier),
      firstOf: (ofKinds) => Math.min(...Array.from(ofKinds.values(), firstIn)),
      learn: (ofKinds) => inTurns(ofKinds, learn),
      sizeOf: (past) => [...past.values()].reduce((sum, { fields }) => sum + Object.keys(fields).length, 0),
    },
    (now, past, end) => judge(kindsOf(now, past), end),
    (now, past) => unjudged(kindsOf(now, past)),
  )
}

/** Maps each value, yielding in between: one takes about 1 ms, and a site may have hundreds. */
export async function inTurns<K, V, R>(items: Iterable<readonly [K, V]>, of: (value: V) => R): Promise<Map<K, R>> {
  const results = new Map<K, R>()
  const others = new Yielder()
  for (const [key, value] of items) {
    results.set(key, of(value))
    await others.spend(1)
  }
  return results
}

/** Start of the first bucket, epoch ms. */
export const firstIn = <F extends string>({ usual, earlier = [] }: PresenceWeeks<F>): number =>
  earlier[0]?.from ?? usual[0]?.from ?? Number.POSITIVE_INFINITY
