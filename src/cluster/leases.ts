import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import type { Expiry } from './clock-guard.ts'
import { DatabaseClock } from './database-clock.ts'
import { liveNodes } from './live-nodes.ts'
import type { Membership } from './membership.ts'

export interface LeasesOptions {
  store: Store
  clock: Clock
  membership: Membership
  /** Says what is old; left out, the clock does. */
  expiry?: Expiry
}

/**
 * Named pieces of work that one node at a time does. A lease is its node's for as long as the node lives: it is not
 * renewed, the heartbeat stands for all of them.
 *
 * What is guaranteed: others take a lease only when its node has not been seen for `DEAD_AFTER_MS`, and a node counts
 * what it holds as lost `SURE_FOR_MS` after its last heartbeat, until it has claimed it again. All nodes go by the database's
 * clock. While that was set a moment ago, no lease changes hands until everybody had the time to beat by the new time.
 *
 * What is not: a process can be stopped between `holds` and the write that follows it, for as long as the machine likes,
 * and its write then comes when the lease is another's. No lease can prevent that, so the work itself must come to the
 * same when two do it: by a transaction that finds its rows gone, or by steps that may be taken twice.
 */
export class Leases {
  readonly #store: Store
  readonly #clock: Clock
  readonly #membership: Membership
  /** For the work that deletes what is old. */
  readonly expiry: Expiry
  /** Every lease asked for, with the session it was got in; undefined when another node has it. */
  readonly #claims = new Map<string, number | undefined>()

  constructor({ store, clock, membership, expiry }: LeasesOptions) {
    this.#store = store
    this.#clock = clock
    this.#membership = membership
    this.expiry = expiry ?? { expiryTime: () => clock.now() }
  }

  /**
   * Whether the lease is this node's, now that it has been asked for: it was already, was free, or was a dead node's.
   *
   * @throws Error when this node's heartbeat does not get through, StoreError
   */
  async claim(name: string): Promise<boolean> {
    if (!this.#membership.isSurelyAlive()) await this.#membership.beat()
    if (!this.#membership.isSurelyAlive()) throw new Error("this node's heartbeat does not get through")
    // Read before the statements: if the session ends while they run, what they say may be out of date already.
    const { session } = this.#membership
    // Nearly always it stays where it is, and reading that costs no commit.
    const holder = await this.#holder(name)
    const isOurs = holder === this.#membership.nodeId || ((await this.#mayTake(holder)) && (await this.#take(name)))
    this.#claims.set(name, isOurs ? session : undefined)
    return this.holds(name)
  }

  /** Whether the lease is still this node's; asks nobody, so that long work can look between any two steps. */
  holds(name: string): boolean {
    return this.#membership.isSurelyAlive() && this.#claims.get(name) === this.#membership.session
  }

  /** Gives the lease up, if it is this node's. */
  async release(name: string): Promise<void> {
    this.#claims.set(name, undefined)
    await this.#store.write
      .deleteFrom('leases')
      .where('name', '=', name)
      .where('node_id', '=', this.#membership.nodeId)
      .execute()
  }

  /** Every lease this node has asked for, and whether it holds it. */
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

  /** Whether heartbeats can be judged; that a lease is free needs none. */
  async #mayTake(holder: string | undefined): Promise<boolean> {
    if (holder === undefined || !(this.#clock instanceof DatabaseClock)) return true
    // The holder may have beaten by a clock that was set since this node asked for the time.
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
