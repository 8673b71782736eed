import { type Clock, monotonicOf, SECOND } from '../lib/index.ts'
import { DEAD_AFTER_MS } from './nodes.ts'

/** A correction larger than drift and late answers explain: the database's clock was set. */
const SET_MS = 2 * SECOND

/**
 * The database's clock, read without a query: this machine counts on from the database's last answer. All nodes use it, so that
 * their own clocks do not matter, and all agree on which node is dead, what is old and which month it is.
 *
 * An answer gives the database's time at some moment between question and answer. A correction moves the clock only into that
 * interval, so a slow answer does not shift it.
 */
export class DatabaseClock implements Clock {
  readonly #machine: Clock
  readonly #databaseTime: () => Promise<number>
  /** The database's time minus the machine's monotonic time, ms. */
  #offset: number
  /** When the database's clock was last found to have been set, in monotonic time. */
  #setAt = Number.NEGATIVE_INFINITY

  private constructor(machine: Clock, databaseTime: () => Promise<number>, offset: number) {
    this.#machine = machine
    this.#databaseTime = databaseTime
    this.#offset = offset
  }

  /**
   * @param machine this machine's clock, with monotonic time
   * @param databaseTime asks the database for its time, epoch ms
   * @throws StoreError
   */
  static async open(machine: Clock, databaseTime: () => Promise<number>): Promise<DatabaseClock> {
    const sentAt = monotonicOf(machine)
    const theirs = await databaseTime()
    return new DatabaseClock(machine, databaseTime, theirs - (sentAt + monotonicOf(machine)) / 2)
  }

  now(): number {
    return Math.round(this.monotonic() + this.#offset)
  }

  monotonic(): number {
    return monotonicOf(this.#machine)
  }

  wall(): number {
    return this.#machine.now()
  }

  /** Asks the database for its time. @throws StoreError; the clock then continues as before */
  async correct(): Promise<void> {
    const sentAt = this.monotonic()
    const theirs = await this.#databaseTime()
    const answered = this.monotonic()
    const least = theirs - answered
    const most = theirs - sentAt
    const offset = Math.min(Math.max(this.#offset, least), most)
    if (Math.abs(offset - this.#offset) > SET_MS) this.#setAt = answered
    this.#offset = offset
  }

  /**
   * Whether all live nodes have had time to send a heartbeat since the database's clock was last set. Until then, older
   * heartbeats do not show which node is dead.
   */
  get isSettled(): boolean {
    return this.monotonic() - this.#setAt >= DEAD_AFTER_MS
  }
}
