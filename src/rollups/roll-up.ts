import { type Clock, DAY, HOUR, MINUTE } from '../lib/index.ts'
import { attemptEach, type Store } from '../store/index.ts'
import { GRAIN } from './columns.ts'
import { derive } from './derive.ts'
import { DAYS, type DirtyBucket, HOURS, type RollUpLevel } from './slices.ts'

/** A bucket is rolled up this long after its end; later events make it due again. */
const SETTLED_AFTER_MS = 2 * MINUTE
/** Dirty buckets of each grain in one round, so that a round ends; a full round is followed by another. */
export const BUCKETS_PER_ROUND = 500
/**
 * How long a bucket of the distant past rests between two derivations. A sender whose events are hours late makes the same hours
 * dirty every second: derived every ten seconds, each time in vain, they held up everyone's commits.
 */
export const LATE_REST_MS = 5 * MINUTE
/** Most buckets that rest at a time; further ones are derived whenever they are dirty. */
const MOST_RESTING = 1_000

interface RollUpOptions {
  /** Keeps which buckets failed or rest, from one call to the next. */
  backoff?: Backoff
  /** Finer rows that one transaction sums, if not the default. */
  rowsAtOnce?: number
  /** Asked between two buckets. */
  shouldContinue?: () => boolean
}

/**
 * Derives hour rows from minute rows, and day rows from hour rows, in every dirty bucket. Returns how many buckets that were. A
 * bucket that fails is not tried again for a while, and does not block the others.
 *
 * Why reports never miss or double a count: a fold marks the hour it writes to dirty in the same transaction, and the mark is
 * cleared only when the derived rows hold everything (see `derive`). A report that reads marks and rows in one snapshot therefore
 * finds either a dirty bucket, and reads the finer rows, or derived rows that hold everything.
 *
 * @throws the first failure, when all others are done
 */
export async function rollUp(store: Store, now: number, options: RollUpOptions = {}): Promise<number> {
  const tally = { tried: 0, derived: 0 }
  await oneRound(store, now, options, tally)
  return tally.derived
}

/**
 * Rolls up round after round, as long as rounds are full. Buckets that fail back off; they end neither a round nor the rounds.
 *
 * @throws the first failure, when all others are done
 */
export async function rollUpAll(
  store: Store,
  clock: Clock,
  options: Required<Pick<RollUpOptions, 'backoff' | 'shouldContinue'>>,
): Promise<void> {
  await attemptEach(fullRounds(), async (tally) => {
    await oneRound(store, clock.now(), options, tally)
    return options.shouldContinue()
  })
}

/** Buckets of a round, counted while it runs, so that the numbers are known even when it fails. */
interface Tally {
  tried: number
  derived: number
}

function* fullRounds(): Generator<Tally> {
  let tally: Tally
  do {
    tally = { tried: 0, derived: 0 }
    yield tally
  } while (tally.tried >= BUCKETS_PER_ROUND)
}

async function oneRound(
  store: Store,
  now: number,
  { backoff = new Backoff(), rowsAtOnce, shouldContinue = () => true }: RollUpOptions,
  tally: Tally,
): Promise<void> {
  const deriveAll = (level: RollUpLevel, buckets: readonly DirtyBucket[]) =>
    attemptEach(buckets, async (dirty) => {
      if (!shouldContinue()) return false
      const name = nameOf(level.to, dirty)
      // Counts as failed until it has succeeded, whatever happens in between.
      backoff.failed(name, now)
      tally.tried++
      if (await derive(store, level, dirty, rowsAtOnce)) {
        backoff.succeeded(name)
        if (isLongPast(level, dirty, now)) backoff.rest(name, now)
      }
      tally.derived++
      return true
    })
  const steps = [
    async () => deriveAll(HOURS, await settledBuckets(store, GRAIN.hour, now - HOUR - SETTLED_AFTER_MS, backoff, now)),
    // Hours first, because day rows are sums of hour rows.
    async () => deriveAll(DAYS, await settledBuckets(store, GRAIN.day, now - DAY - SETTLED_AFTER_MS, backoff, now)),
  ]
  await attemptEach(steps, async (step) => {
    await step()
    return true
  })
}

const isLongPast = ({ span }: RollUpLevel, { bucket }: DirtyBucket, now: number): boolean =>
  bucket < now - 2 * span - SETTLED_AFTER_MS

/** Dirty buckets that have ended, the oldest first; a day only when none of its hours is dirty. */
async function settledBuckets(
  store: Store,
  grain: number,
  upTo: number,
  backoff: Backoff,
  now: number,
): Promise<DirtyBucket[]> {
  const rows = await store.read
    .selectFrom('dirty_buckets')
    .innerJoin('sites', 'sites.site_no', 'dirty_buckets.site_no')
    .leftJoin('minute_floors', 'minute_floors.site_no', 'dirty_buckets.site_no')
    .select([
      'dirty_buckets.site_no',
      'dirty_buckets.bucket',
      'dirty_buckets.writes',
      'sites.timezone',
      'minute_floors.gone_before',
    ])
    .where(({ or, eb, ref }) =>
      or([
        eb('minute_floors.clearing', 'is', null),
        eb('minute_floors.clearing', '<>', ref('dirty_buckets.bucket')),
        eb('dirty_buckets.grain', '<>', GRAIN.hour),
      ]),
    )
    .where('dirty_buckets.grain', '=', grain)
    .where('dirty_buckets.bucket', '<=', upTo)
    .$if(grain === GRAIN.day, (days) =>
      days.where(({ not, exists, selectFrom, ref }) =>
        not(
          exists(
            selectFrom('dirty_buckets as hour')
              .select('hour.bucket')
              .whereRef('hour.site_no', '=', 'dirty_buckets.site_no')
              .where('hour.grain', '=', GRAIN.hour)
              .whereRef('hour.bucket', '>=', 'dirty_buckets.bucket')
              .where((eb) => eb('hour.bucket', '<', eb(ref('dirty_buckets.bucket'), '+', DAY))),
          ),
        ),
      ),
    )
    .orderBy('dirty_buckets.bucket')
    .limit(BUCKETS_PER_ROUND + backoff.sizeAt(now))
    .execute()
  return rows
    .map(({ site_no, bucket, writes, timezone, gone_before }) => ({
      siteNo: site_no,
      bucket,
      writes,
      timezone,
      minutesGoneBefore: gone_before ?? 0,
    }))
    .filter((dirty) => !backoff.isBlocked(nameOf(grain, dirty), now))
}

const nameOf = (grain: number, { siteNo, bucket }: DirtyBucket): string => `${grain}|${siteNo}|${bucket}`

const FIRST_WAIT_MS = MINUTE
const LONGEST_WAIT_MS = HOUR

/** Buckets not to try for a while: those that failed, twice as long each time, and those just done. */
export class Backoff {
  readonly #waits = new Map<string, { until: number; waitMs: number }>()
  /** Until when each rests, in the order in which they wake. */
  readonly #resting = new Map<string, number>()

  /** How many are blocked, or were until recently. */
  sizeAt(now: number): number {
    this.#wake(now)
    return this.#waits.size + this.#resting.size
  }

  isBlocked(what: string, now: number): boolean {
    const { until = 0, waitMs = 0 } = this.#waits.get(what) ?? {}
    // A clock that was set back must not prolong the wait.
    return (now < until && until <= now + waitMs) || now < (this.#resting.get(what) ?? 0)
  }

  failed(what: string, now: number): void {
    const before = this.#waits.get(what)?.waitMs ?? FIRST_WAIT_MS / 2
    this.#waits.delete(what)
    const waitMs = Math.min(LONGEST_WAIT_MS, before * 2)
    this.#waits.set(what, { until: now + waitMs, waitMs })
    // What has not failed again for this long no longer exists.
    for (const [name, { until }] of this.#waits) {
      if (until >= now - LONGEST_WAIT_MS) break
      this.#waits.delete(name)
    }
  }

  succeeded(what: string): void {
    this.#waits.delete(what)
  }

  /** It is done and need not be done again soon. */
  rest(what: string, now: number): void {
    this.#wake(now)
    if (this.#resting.size < MOST_RESTING) this.#resting.set(what, now + LATE_REST_MS)
  }

  #wake(now: number): void {
    for (const [name, until] of this.#resting) {
      // A clock that was set back must not leave any of them asleep.
      if (until > now && until <= now + LATE_REST_MS) break
      this.#resting.delete(name)
    }
  }
}
