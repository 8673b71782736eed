import { asError, type Clock, Loop, MINUTE, SECOND } from '../lib/index.ts'
import { isPassing, type Kysely, type Store, type Tables, type Transaction } from '../store/index.ts'

/** How often it is recorded that events are accepted. */
export const LISTENING_INTERVAL_MS = 5 * SECOND
/** A time without beats counts as an outage from this length, in which two beats were due, ms. */
const LEAST_OUTAGE_MS = 2 * LISTENING_INTERVAL_MS
/** A process that runs for less than this between two crashes does not count as up, ms. That also limits the number of rows. */
const LEAST_UPTIME_MS = MINUTE
const LONG_MS = MINUTE
/** The table has one row. */
const ID = 1
/** Outages deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 2_000

export interface ListeningOptions {
  store: Pick<Store, 'write' | 'isShared'>
  clock: Clock
  /** Why this process cannot accept events now, or null. */
  trouble: () => string | null
  onError: (error: Error, what: string) => void
}

/** A half-open interval in which no process accepted events, epoch ms. */
export interface Outage {
  from: number
  to: number
}

/**
 * Records that events are accepted, and afterwards when they were not: while every process was down, cut off from the database,
 * or unable to write. All processes that accept events advance one time, so that there is an outage only where none did. A
 * database restored from a backup gets such an outage for the lost time.
 */
export class Listening {
  readonly loop: Loop
  readonly #options: ListeningOptions
  /** Whether this process noticed no pause since its last beat. */
  #isSteady = false

  constructor(options: ListeningOptions) {
    this.#options = options
    const { clock, onError } = options
    this.loop = new Loop({
      name: 'listening',
      clock,
      intervalMs: LISTENING_INTERVAL_MS,
      tick: () => this.#tick(),
      onError,
    })
  }

  /** Call when requests can arrive. */
  async start(): Promise<void> {
    await this.loop.tick()
    this.loop.start()
  }

  /** Call when no more requests can arrive. */
  async stop(): Promise<void> {
    await this.loop.stop()
    await this.loop.tick()
  }

  async #tick(): Promise<void> {
    const { store, clock, trouble } = this.#options
    if (trouble() !== null) {
      this.#isSteady = false
      return
    }
    // A process on a suspended machine notices no pause, but its clock shows it; only a test's clock has no monotonic time to
    // show one.
    const mayHavePaused = !this.#isSteady || clock.monotonic !== undefined
    try {
      const step = () =>
        store.write.transaction().execute((trx) => beat(trx, store.isShared, clock.now(), mayHavePaused))
      for (let more = true; more; ) more = await step()
      this.#isSteady = true
    } catch (thrown) {
      this.#isSteady = false
      // The heartbeat reports that the store is unavailable.
      if (!isPassing(asError(thrown))) throw thrown
    }
  }
}

/** Returns whether there is more to do before the beat is complete. */
async function beat(
  trx: Transaction<Tables>,
  isShared: boolean,
  now: number,
  mayHavePaused: boolean,
): Promise<boolean> {
  const row = await trx
    .selectFrom('listening')
    .select('listened_until')
    .where('id', '=', ID)
    // Processes take turns: what the first has recorded is no outage for the second.
    .$if(isShared, (query) => query.forUpdate())
    .executeTakeFirst()
  if (row === undefined) {
    const first = { id: ID, listened_until: now }
    await trx
      .insertInto('listening')
      .values(first)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return false
  }
  const { listened_until: until } = row
  if (Math.abs(now - until) >= LEAST_OUTAGE_MS) {
    // A clock that was ahead recorded outages in the future. `listened_until` stays until all of them are deleted.
    if (now < until && (await removeSome(trx, 'began_at', '>=', now))) return true
    // Until now, nothing was counted in this one: the machine was down, or what came was counted at later times.
    if (now < until) await trx.updateTable('outages').set({ ended_at: now }).where('ended_at', '>', now).execute()
    if (now > until && mayHavePaused) await writeDown(trx, until, now)
  } else if (now <= until) return false
  await trx.updateTable('listening').set({ listened_until: now }).where('id', '=', ID).execute()
  return false
}

/** Deletes some of the outages that began or ended on one side of a time, oldest first, and returns whether there may be more. */
async function removeSome(
  db: Kysely<Tables>,
  edge: 'began_at' | 'ended_at',
  side: '<' | '>=',
  time: number,
): Promise<boolean> {
  const some = db
    .selectFrom('outages')
    .select('began_at')
    .where(edge, side, time)
    .orderBy('began_at')
    .limit(ROWS_PER_STEP)
  const { numDeletedRows } = await db.deleteFrom('outages').where('began_at', 'in', some).executeTakeFirstOrThrow()
  return numDeletedRows >= ROWS_PER_STEP
}

/** Deletes some of the outages that ended before a time, oldest first, and returns whether there may be more. */
export const removeOldOutages = (store: Store, before: number): Promise<boolean> =>
  removeSome(store.write, 'ended_at', '<', before)

async function writeDown(trx: Transaction<Tables>, from: number, to: number): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('outages')
    .set({ ended_at: to })
    .where('ended_at', '>', from - LEAST_UPTIME_MS)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) return
  await trx
    .insertInto('outages')
    .values({ began_at: from, ended_at: to })
    .onConflict((conflict) => conflict.column('began_at').doUpdateSet({ ended_at: to }))
    .execute()
}

/** The outages that touch an interval, oldest first, without overlaps. */
export async function readOutages(db: Kysely<Tables>, from: number, to: number): Promise<Outage[]> {
  const rows = await db
    .selectFrom('outages')
    .selectAll()
    .where('ended_at', '>', from)
    .where('began_at', '<', to)
    .orderBy('began_at')
    .execute()
  return rows.map(({ began_at, ended_at }) => ({ from: began_at, to: ended_at }))
}

/** How long no process accepted events between two moments, ms. */
export async function readDowntime(db: Kysely<Tables>, from: number, to: number): Promise<number> {
  const outages = await readOutages(db, from, to)
  return outages.reduce((sum, outage) => sum + Math.min(outage.to, to) - Math.max(outage.from, from), 0)
}

/** Lets the next process start without recording an outage: for a demo that continues and fills in the time itself. */
export async function forgetListening({ write }: Pick<Store, 'write'>): Promise<void> {
  await write.deleteFrom('listening').execute()
}

/** Whether an outage makes the counts around it unreliable, which a restart does not. */
export const isLongOutage = ({ from, to }: Outage): boolean => to - from >= LONG_MS

/**
 * When a process that accepts events was last known to be alive, epoch ms; null if none ever was. On a machine that wakes up, its
 * heartbeat may come seconds before the beat of `Listening` that records the outage. Until then the whole sleep would look like
 * silence.
 */
export async function lastListenedAt(db: Kysely<Tables>): Promise<number | null> {
  const { seen_at } = await db
    .selectFrom('nodes')
    .select((eb) => eb.fn.max<number | null>('seen_at').as('seen_at'))
    .where('role', 'in', ['ingest', 'all'])
    .executeTakeFirstOrThrow()
  const row = await db.selectFrom('listening').select('listened_until').where('id', '=', ID).executeTakeFirst()
  // A process that left has no heartbeat any more.
  return row === undefined ? seen_at : Math.min(row.listened_until, seen_at ?? row.listened_until)
}
