import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import type { Expiry } from './clock-guard.ts'
import { DatabaseClock } from './database-clock.ts'
import type { Membership } from './membership.ts'
import { liveNodes } from './nodes.ts'

export interface LeasesOptions {
  store: Store
  clock: Clock
  membership: Membership
  /** Decides what is old; the clock does when left out. */
  expiry?: Expiry
}

/**
 * Named pieces of work for one node at a time. A node keeps its leases for as long as it lives: they are not renewed, as its
 * heartbeat stands for all of them.
 *
 * The guarantee: others take a lease only after its node sent no heartbeat for `DEAD_AFTER_MS`, and a node treats its leases as
 * lost `SURE_FOR_MS` after its last heartbeat, until it has claimed them again. All nodes use the database's clock. After that
 * clock was set, no lease changes hands until every node has had time to send a heartbeat by the new time.
 *
 * The limit: a process can be suspended for any length of time between `holds` and the write that follows, and its write then
 * comes when another node has the lease. No lease can prevent that, so the work itself must be idempotent: by a transaction that
 * finds its rows gone, or by steps that may be taken twice.
 */
export class Leases {
  readonly #store: Store
  readonly #clock: Clock
  readonly #membership: Membership
  /** For work that deletes by age. */
  readonly expiry: Expiry
  /** Every lease this node has claimed, with the session in which it got it; undefined when another node has it. */
  readonly #claims = new Map<string, number | undefined>()

  constructor({ store, clock, membership, expiry }: LeasesOptions) {
    this.#store = store
    this.#clock = clock
    this.#membership = membership
    this.expiry = expiry ?? { expiryTime: () => clock.now() }
  }

  /**
   * Claims the lease. Returns true when this node has it: it had it already, it was free, or its node is dead.
   *
   * @throws StoreError, or Error when this node's heartbeat does not get through
   */
  async claim(name: string): Promise<boolean> {
    if (!this.#membership.isSurelyAlive()) await this.#membership.beat()
    if (!this.#membership.isSurelyAlive()) throw new Error("this node's heartbeat does not get through")
    // Read before the statements: if the session ends while they run, their result may already be out of date.
    const { session } = this.#membership
    // The holder seldom changes, and reading it costs no commit.
    const holder = await this.#holder(name)
    const isOurs = holder === this.#membership.nodeId || ((await this.#mayTake(holder)) && (await this.#take(name)))
    this.#claims.set(name, isOurs ? session : undefined)
    return this.holds(name)
  }

  /** Whether this node still has the lease. Needs no query, so long work can check between any two steps. */
  holds(name: string): boolean {
    return this.#membership.isSurelyAlive() && this.#claims.get(name) === this.#membership.session
  }

  /** Releases the lease if this node has it. */
  async release(name: string): Promise<void> {
    this.#claims.set(name, undefined)
    await this.#store.write
      .deleteFrom('leases')
      .where('name', '=', name)
      .where('node_id', '=', this.#membership.nodeId)
      .execute()
  }

  /** Every lease this node has claimed, and whether it still has it. */
  get holdings(): ReadonlyMap<string, boolean> {
    return new Map(Array.from(this.#claims.keys(), (name) => [name, this.holds(name)]))
  }

  async #holder(name: string): Promise<string | undefined> {
    const row = await this.#store.read
      .selectFrom('leases')
      .select('node_id')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.node_id
  }

  /** Whether the holder's heartbeats can be judged; a free lease can always be taken. */
  async #mayTake(holder: string | undefined): Promise<boolean> {
    if (holder === undefined || !(this.#clock instanceof DatabaseClock)) return true
    // The holder may have sent a heartbeat by a clock that was set since this node last read the time.
    await this.#clock.correct()
    return this.#clock.isSettled
  }

  async #take(name: string): Promise<boolean> {
    const { nodeId } = this.#membership
    const now = this.#clock.now()
    const { numInsertedOrUpdatedRows } = await this.#store.write
      .insertInto('leases')
      .values({ name, node_id: nodeId, claimed_at: now })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ node_id: nodeId, claimed_at: now })
          .where((eb) =>
            eb.or([
              eb('leases.node_id', '=', nodeId),
              eb('leases.node_id', 'not in', liveNodes(this.#store.write, now)),
            ]),
          ),
      )
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 1n
  }
}

/**
 * A loop's tick that works on one node at a time; on the others it succeeds at once without doing anything.
 *
 * @param work gets a function to ask between its steps whether this node still has the lease
 */
export const exclusively =
  (leases: Leases, name: string, work: (isOurs: () => boolean) => Promise<void>): (() => Promise<void>) =>
  async () => {
    if (await leases.claim(name)) await work(() => leases.holds(name))
  }

/**
 * A loop's tick that deletes by age, on one node at a time. While the clock is in doubt it does nothing, and leaves the work to
 * another node, whose clock may be right.
 *
 * @param work gets the time by which to judge age, epoch ms, and a function to ask between its steps whether to continue
 */
export const expiring =
  (
    leases: Leases,
    name: string,
    work: (now: number, shouldContinue: () => boolean) => Promise<void>,
  ): (() => Promise<void>) =>
  async () => {
    const now = leases.expiry.expiryTime()
    if (now === null) {
      if (leases.holds(name)) await leases.release(name)
    } else if (await leases.claim(name)) {
      await work(now, () => leases.holds(name) && leases.expiry.expiryTime() !== null)
    }
  }
