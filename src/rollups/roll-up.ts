import { type Clock, DAY, HOUR, MINUTE } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { attemptEach } from './attempts.ts'
import { GRAIN } from './columns.ts'
import { DAYS, derive, HOURS, type Mark, type Step } from './derive.ts'
import { Setbacks } from './setbacks.ts'

/** A bucket is rolled up when it has been over for this long: what still comes for it makes it due again. */
const SETTLED_AFTER_MS = 2 * MINUTE
/** Marks of each grain taken up by one call, so that it ends: as many again wait where it took so many. */
export const MARKS_PER_ROUND = 500

export interface RollUpOptions {
  /** Buckets that did not work; to be kept from one call to the next. */
  setbacks?: Setbacks
  /** Finer rows summed by one transaction, when it is not to be the usual number. */
  rowsAtOnce?: number
  /** Asked between two buckets. */
  mayGoOn?: () => boolean
}

/**
 * Derives hour rows from minute rows and day rows from hour rows, wherever a mark says they are out of date, and returns
 * how many buckets that were. A bucket that fails is left alone for a while, and keeps no other from its turn.
 *
 * Why reports never miss or double a count: a fold puts a mark on the hour it writes to in the same transaction, and the
 * mark is taken away only when the derived rows hold everything (see `derive`). A report that reads marks and rows in one
 * snapshot therefore finds either the mark (and reads the finer rows) or derived rows that hold everything.
 *
 * @throws the first failure, when all others are done
 */
export async function rollUp(store: Store, now: number, options: RollUpOptions = {}): Promise<number> {
  const tally = { tried: 0, derived: 0 }
  await oneRound(store, now, options, tally)
  return tally.derived
}

/**
 * Rolls up round after round, at once while a round was full. Buckets that fail rest, and end no round early nor the rounds.
 *
 * @throws the first failure, when all others are done
 */
export async function rollUpAll(
  store: Store,
  clock: Clock,
  options: Required<Pick<RollUpOptions, 'setbacks' | 'mayGoOn'>>,
): Promise<void> {
  await attemptEach(fullRounds(), async (tally) => {
    await oneRound(store, clock.now(), options, tally)
    return options.mayGoOn()
  })
}

/** Buckets of a round; filled in as it goes, so that they are known when it ends in a failure. */
interface Tally {
  tried: number
  derived: number
}

function* fullRounds(): Generator<Tally> {
  let tally: Tally
  do {
    tally = { tried: 0, derived: 0 }
    yield tally
  } while (tally.tried >= MARKS_PER_ROUND)
}

async function oneRound(
  store: Store,
  now: number,
  { setbacks = new Setbacks(), rowsAtOnce, mayGoOn = () => true }: RollUpOptions,
  tally: Tally,
): Promise<void> {
  const deriveAll = (step: Step, marks: readonly Mark[]) =>
    attemptEach(marks, async (mark) => {
      if (!mayGoOn()) return false
      const name = nameOf(step.to, mark)
      // Until it has worked: whatever it ends in.
      setbacks.failed(name, now)
      tally.tried++
      if (await derive(store, step, mark, rowsAtOnce)) setbacks.succeeded(name)
      tally.derived++
      return true
    })
  const steps = [
    async () => deriveAll(HOURS, await settledMarks(store, GRAIN.hour, now - HOUR - SETTLED_AFTER_MS, setbacks, now)),
    // Hours first: day rows are sums of hour rows.
    async () => deriveAll(DAYS, await settledMarks(store, GRAIN.day, now - DAY - SETTLED_AFTER_MS, setbacks, now)),
  ]
  await attemptEach(steps, async (step) => {
    await step()
    return true
  })
}

/** Marks whose bucket is over, the oldest first; days only when none of their hours is marked. */
async function settledMarks(
  store: Store,
  grain: number,
  upTo: number,
  setbacks: Setbacks,
  now: number,
): Promise<Mark[]> {
  const rows = await store.read
    .selectFrom('rollup_marks')
    .innerJoin('sites', 'sites.site_no', 'rollup_marks.site_no')
    .leftJoin('minute_floors', 'minute_floors.site_no', 'rollup_marks.site_no')
    .select([
      'rollup_marks.site_no',
      'rollup_marks.bucket',
      'rollup_marks.writes',
      'sites.timezone',
      'minute_floors.gone_before',
    ])
    .where(({ or, eb, ref }) =>
      or([
        eb('minute_floors.clearing', 'is', null),
        eb('minute_floors.clearing', '<>', ref('rollup_marks.bucket')),
        eb('rollup_marks.grain', '<>', GRAIN.hour),
      ]),
    )
    .where('rollup_marks.grain', '=', grain)
    .where('rollup_marks.bucket', '<=', upTo)
    .$if(grain === GRAIN.day, (days) =>
      days.where(({ not, exists, selectFrom, ref }) =>
        not(
          exists(
            selectFrom('rollup_marks as hour')
              .select('hour.bucket')
              .whereRef('hour.site_no', '=', 'rollup_marks.site_no')
              .where('hour.grain', '=', GRAIN.hour)
              .whereRef('hour.bucket', '>=', 'rollup_marks.bucket')
              .where((eb) => eb('hour.bucket', '<', eb(ref('rollup_marks.bucket'), '+', DAY))),
          ),
        ),
      ),
    )
    .orderBy('rollup_marks.bucket')
    .limit(MARKS_PER_ROUND + setbacks.size)
    .execute()
  return rows
    .map(({ site_no, bucket, writes, timezone, gone_before }) => ({
      siteNo: site_no,
      bucket,
      writes,
      timezone,
      minutesGoneBefore: gone_before ?? 0,
    }))
    .filter((mark) => !setbacks.isResting(nameOf(grain, mark), now))
}

const nameOf = (grain: number, { siteNo, bucket }: Mark): string => `${grain}|${siteNo}|${bucket}`
