import { asError, type Clock, Loop, MINUTE, monotonicOf, SECOND } from '../lib/index.ts'
import { isPassing, type Kysely, type Store, type Tables } from '../store/index.ts'
import {
  type ClockRecord,
  expiryTimeOf,
  JUMP_MS,
  recordAfterJump,
  recordAfterReturn,
  recordAtStart,
  settled,
} from './clock-record.ts'
import { DatabaseClock } from './database-clock.ts'

const LOOK_INTERVAL_MS = 5 * SECOND
/** How old the newest stored time may become, ms. */
const WRITE_INTERVAL_MS = MINUTE
/** A machine's clock may differ from the database's by this much without a warning, ms. */
const NOTICEABLE_MS = 5 * SECOND

/** Decides what may be deleted by age. */
export interface Expiry {
  /** The time by which to judge age, epoch ms; null while the clock is in doubt and nothing counts as old. */
  expiryTime(): number | null
}

export interface ClockGuardOptions {
  store: Store
  clock: Clock
  onError: (error: Error, what: string) => void
}

interface ClockReading {
  now: number
  monotonic: number
}

/**
 * Watches the clock that the whole program uses: everything that deletes or expires by age asks it for the time. It compares the
 * clock with monotonic time, at the start with the newest stored time, and on a shared database this machine's clock with the
 * database's. A clock in doubt stops deletion, here or on every node, and nothing else.
 */
export class ClockGuard implements Expiry {
  readonly loop: Loop
  readonly #options: ClockGuardOptions
  #record: ClockRecord
  /** The record of the previous process; undefined in a new database. */
  #before: ClockRecord | undefined
  /** The last reading before which the clock was believed. */
  #trusted: ClockReading | undefined
  /** A reading since which the clock was not set. */
  #even: ClockReading
  /** Whether `#record` has a change that is not stored yet. */
  #isNews = true
  #writtenAt = Number.NEGATIVE_INFINITY
  #isMachineOff = false

  private constructor(options: ClockGuardOptions, before: ClockRecord | undefined) {
    this.#options = options
    this.#even = this.#read()
    this.#before = before
    this.#record = recordAtStart(before, this.#even.now)
    if (this.#record.doubt === null) this.#trusted = this.#even
    const { clock, onError } = options
    this.loop = new Loop({
      name: 'clock',
      clock,
      intervalMs: LOOK_INTERVAL_MS,
      tick: () => this.#tick(),
      onError,
    })
  }

  /**
   * Compares the clock with the newest stored time, and starts watching it.
   *
   * @throws StoreError
   */
  static async open(options: ClockGuardOptions): Promise<ClockGuard> {
    const guard = new ClockGuard(options, await readClockRecord(options.store.read))
    guard.#say(guard.#record.doubt)
    guard.#compareMachine()
    await guard.#write(guard.#record)
    guard.loop.start()
    return guard
  }

  expiryTime(): number | null {
    // Use the time that was compared: if the clock is set just after, its new time could be a day that has not passed.
    const { now } = this.#look()
    return this.#isOwnClockOff ? null : expiryTimeOf(this.#record, now)
  }

  /** Why nothing is deleted by age, for people, or null. */
  get doubt(): string | null {
    this.#look()
    if (this.#record.doubt !== null) return this.#record.doubt
    if (!this.#isOwnClockOff) return null
    const minutes = Math.round(Math.abs(this.#machineAhead) / MINUTE)
    return `The clocks of this machine and of the database differ by ${minutes} minutes, so this node deletes nothing by age until they agree`
  }

  async stop(): Promise<void> {
    await this.loop.stop()
  }

  async #tick(): Promise<void> {
    const { store, clock } = this.#options
    try {
      if (clock instanceof DatabaseClock) await clock.correct()
      this.#compareMachine()
      this.#look()
      if (!this.#isNews && monotonicOf(clock) - this.#writtenAt < WRITE_INTERVAL_MS) return
      if (!this.#isNews) this.#takeOver(await readClockRecord(store.read))
      await this.#write(this.#record)
    } catch (thrown) {
      // The heartbeat reports that the store is unavailable.
      if (!isPassing(asError(thrown))) throw thrown
    }
  }

  /** Reports once that this machine's clock is off, at the start or after it has drifted, and again only after it was corrected. */
  #compareMachine(): void {
    const { clock, onError } = this.#options
    const ahead = this.#machineAhead
    const wasOff = this.#isMachineOff
    this.#isMachineOff = Math.abs(ahead) > (wasOff ? NOTICEABLE_MS / 2 : NOTICEABLE_MS)
    if (wasOff || !this.#isMachineOff) return
    const seconds = Math.round(Math.abs(ahead) / SECOND)
    const direction = ahead > 0 ? 'ahead of' : 'behind'
    const what = `the clock of this machine is ${seconds} s ${direction} the database's, which everything follows`
    onError(new Error(`${what} (${new Date(clock.now()).toISOString()}): keep both synchronised (NTP)`), 'clock check')
  }

  /** Compares the clock with the monotonic time passed since `#even`. @returns the reading it compared */
  #look(): ClockReading {
    const seen = this.#read()
    const jump = this.#deviation(seen, this.#even)
    if (Math.abs(jump) > JUMP_MS) {
      this.#even = seen
      this.#enter(this.#isBack(seen) ? recordAfterReturn(seen.now) : recordAfterJump(seen.now, jump))
      return seen
    }
    const next = settled(this.#record, seen.now)
    if (this.#record.carefulUntil !== null && next.carefulUntil === null) this.#enter(next)
    else this.#record = next
    if (this.#record.doubt === null && this.#trusted === undefined) this.#trusted = this.#even
    return seen
  }

  /** Whether a clock that was set is back where it would be otherwise. */
  #isBack(seen: ClockReading): boolean {
    if (this.#trusted !== undefined) return Math.abs(this.#deviation(seen, this.#trusted)) <= JUMP_MS
    return recordAtStart(this.#before, seen.now).doubt === null
  }

  #deviation(seen: ClockReading, since: ClockReading): number {
    return seen.now - since.now - (seen.monotonic - since.monotonic)
  }

  #enter(record: ClockRecord): void {
    const had = this.#record.doubt
    this.#record = record
    this.#isNews = true
    if (record.doubt !== null) this.#say(record.doubt)
    else if (had !== null) this.#say('The clock is trusted again')
    if (record.carefulUntil === null) this.#trusted = this.#even
  }

  /** Adopts what another node has found out meanwhile. */
  #takeOver(stored: ClockRecord | undefined): void {
    if (stored === undefined) return
    const had = this.#record.doubt
    this.#record = settled(stored, this.#options.clock.now())
    if (this.#record.doubt !== null && had === null) this.#say(this.#record.doubt)
  }

  async #write(record: ClockRecord): Promise<void> {
    this.#isNews = false
    try {
      await writeClockRecord(this.#options.store.write, record)
      this.#writtenAt = monotonicOf(this.#options.clock)
    } catch (thrown) {
      this.#isNews = true
      throw thrown
    }
  }

  #say(what: string | null): void {
    if (what !== null) this.#options.onError(new Error(what), 'clock')
  }

  #read(): ClockReading {
    const { clock } = this.#options
    return { now: clock.now(), monotonic: monotonicOf(clock) }
  }

  get #machineAhead(): number {
    const { clock } = this.#options
    return (clock.wall?.() ?? clock.now()) - clock.now()
  }

  get #isOwnClockOff(): boolean {
    return Math.abs(this.#machineAhead) > JUMP_MS
  }
}

/** The table has one row. */
const ID = 1

/** The stored record; undefined in a new database. @throws StoreError */
async function readClockRecord(db: Kysely<Tables>): Promise<ClockRecord | undefined> {
  const row = await db.selectFrom('clock_checks').selectAll().where('id', '=', ID).executeTakeFirst()
  if (row === undefined) return undefined
  return {
    checkedAt: row.checked_at,
    carefulUntil: row.careful_until,
    slackMs: row.slack_ms,
    doubt: row.doubt,
  }
}

/** @throws StoreError */
async function writeClockRecord(db: Kysely<Tables>, record: ClockRecord): Promise<void> {
  const row = {
    checked_at: record.checkedAt,
    careful_until: record.carefulUntil,
    slack_ms: record.slackMs,
    doubt: record.doubt,
  }
  await db
    .insertInto('clock_checks')
    .values({ id: ID, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
