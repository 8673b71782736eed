import { hostname } from 'node:os'
import { asError, type Clock, DAY, Loop, monotonicOf, newId, SECOND } from '../lib/index.ts'
import type { BatchOperation, Store } from '../store/index.ts'
import type { Expiry } from './clock-guard.ts'
import { DEAD_AFTER_MS, HEARTBEAT_INTERVAL_MS, liveNodes, SURE_FOR_MS } from './nodes.ts'

/** How long a dead node is still listed. Nothing depends on its row: time alone decides which node is dead. */
const SHOWN_AFTER_DEATH_MS = DAY

/** Pause after a failed heartbeat: failing claims would each request one five times a second. */
const BETWEEN_FAILURES_MS = SECOND

export interface JoinOptions {
  store: Store
  clock: Clock
  /** What the node does, and its program version; for people. */
  role: string
  version: string
  /** Decides what is old; the clock does when left out. */
  expiry?: Expiry
  onError: (error: Error, what: string) => void
}

/** This process as one of the database's nodes: sends heartbeats and knows which other nodes are alive. */
export class Membership {
  readonly nodeId: string
  readonly #heartbeat: Loop
  readonly #options: JoinOptions
  readonly #startedAt: number
  #seen: Moment
  #session = 1
  #trouble: string | null = null
  /** When the last heartbeat failed, in monotonic time; null when it succeeded. */
  #failedAt: number | null = null
  #hasLeft = false
  /** The newest heartbeat of all nodes if it is in the future, and since when it has been the newest, in monotonic time. */
  #future: { seenAt: number; since: number } | null = null

  private constructor(options: JoinOptions) {
    this.#options = options
    this.nodeId = newId()
    this.#startedAt = options.clock.now()
    this.#seen = momentOf(options.clock)
    this.#heartbeat = new Loop({
      name: 'heartbeat',
      clock: options.clock,
      intervalMs: HEARTBEAT_INTERVAL_MS,
      tick: () => this.#beat(),
      onError: options.onError,
    })
  }

  /**
   * Adds this process to the nodes and starts its heartbeat.
   *
   * @throws StoreError
   */
  static async join(options: JoinOptions): Promise<Membership> {
    const membership = new Membership(options)
    await options.store.batch([membership.#insertion(membership.#startedAt), ...membership.#removalOfPredecessors()])
    membership.#heartbeat.start()
    return membership
  }

  /** Ids of the live nodes, always including this one. */
  async liveNodeIds(): Promise<string[]> {
    const rows = await liveNodes(this.#options.store.read, this.#options.clock.now()).execute()
    return [this.nodeId, ...rows.map(({ id }) => id).filter((id) => id !== this.nodeId)]
  }

  /** Whether no other node can have declared this one dead yet. */
  isSurelyAlive(): boolean {
    return !this.#hasLeft && this.#sinceSeen() < SURE_FOR_MS
  }

  /** Increments whenever others may have declared this node dead. What it held in an earlier session may now belong to another node. */
  get session(): number {
    return this.#session
  }

  /** Why the last heartbeat failed, or null. */
  get trouble(): string | null {
    return this.#trouble
  }

  get loops(): readonly Loop[] {
    return [this.#heartbeat]
  }

  /** Sends a heartbeat now, unless one has just failed; reports a failure like that of any heartbeat. */
  async beat(): Promise<void> {
    if (this.#failedAt !== null && monotonicOf(this.#options.clock) - this.#failedAt < BETWEEN_FAILURES_MS) return
    await this.#heartbeat.tick()
  }

  /**
   * Call when this node has stopped all work, so that others take over at once. If the store fails, they do so once the node
   * counts as dead.
   */
  async leave(): Promise<void> {
    const { store, onError } = this.#options
    await this.#heartbeat.stop()
    this.#hasLeft = true
    const leases = store.write.deleteFrom('leases').where('node_id', '=', this.nodeId).compile()
    const node = store.write.deleteFrom('nodes').where('id', '=', this.nodeId).compile()
    try {
      await store.batch([
        { kind: 'statement', query: leases },
        { kind: 'statement', query: node },
      ])
    } catch (thrown) {
      onError(asError(thrown), 'leave')
    }
  }

  async #beat(): Promise<void> {
    if (this.#hasLeft) return
    const { store, clock } = this.#options
    const moment = momentOf(clock)
    const now = clock.now()
    try {
      const { numUpdatedRows } = await store.write
        .updateTable('nodes')
        .set({ seen_at: now })
        .where('id', '=', this.nodeId)
        .executeTakeFirstOrThrow()
      const wasRemoved = numUpdatedRows === 0n
      if (wasRemoved) await store.batch([this.#insertion(now)])
      // By the time after the write: until it was committed, others saw the previous heartbeat.
      if (wasRemoved || this.#sinceSeen() >= SURE_FOR_MS) this.#session++
      this.#seen = moment
      await this.#forgetDeadNodes()
      await this.#forgetFutureNode(moment.monotonic)
      this.#trouble = null
      this.#failedAt = null
    } catch (thrown) {
      this.#trouble = asError(thrown).message
      this.#failedAt = monotonicOf(clock)
      throw thrown
    }
  }

  async #forgetDeadNodes(): Promise<void> {
    const { store, clock, expiry } = this.#options
    const now = expiry === undefined ? clock.now() : expiry.expiryTime()
    if (now === null) return
    await store.write
      .deleteFrom('nodes')
      .where('seen_at', '<', now - SHOWN_AFTER_DEATH_MS)
      .execute()
  }

  /**
   * Forgets a node that died while the clock was ahead: it would count as live until then. Its heartbeat is in the future and, unlike that of a
   * live node, stays the same.
   */
  async #forgetFutureNode(monotonic: number): Promise<void> {
    const { store, clock } = this.#options
    const { seen_at } = await store.read
      .selectFrom('nodes')
      .select((eb) => eb.fn.max<number | null>('seen_at').as('seen_at'))
      .executeTakeFirstOrThrow()
    if (seen_at === null || seen_at <= clock.now() + DEAD_AFTER_MS) this.#future = null
    else if (this.#future?.seenAt !== seen_at) this.#future = { seenAt: seen_at, since: monotonic }
    else if (monotonic - this.#future.since >= DEAD_AFTER_MS) {
      await store.write.deleteFrom('nodes').where('seen_at', '=', seen_at).execute()
    }
  }

  /**
   * Time since the last successful heartbeat, ms: the maximum over both clocks, because one may have been set, and the other
   * stands still while the machine is suspended.
   */
  #sinceSeen(): number {
    const { monotonic, wall } = momentOf(this.#options.clock)
    return Math.max(monotonic - this.#seen.monotonic, wall - this.#seen.wall)
  }

  #insertion(now: number): BatchOperation {
    const { store, role, version } = this.#options
    const query = store.write
      .insertInto('nodes')
      .values({
        id: this.nodeId,
        name: `${hostname()}:${process.pid}`,
        role,
        version,
        started_at: this.#startedAt,
        seen_at: now,
      })
      .compile()
    return { kind: 'statement', query }
  }

  /**
   * Where only one process can use the database, its lock proves that all others are gone: remove them instead of waiting for
   * them to count as dead.
   */
  #removalOfPredecessors(): BatchOperation[] {
    const { store } = this.#options
    if (store.isShared) return []
    const leases = store.write.deleteFrom('leases').where('node_id', '!=', this.nodeId).compile()
    const nodes = store.write.deleteFrom('nodes').where('id', '!=', this.nodeId).compile()
    return [
      { kind: 'statement', query: leases },
      { kind: 'statement', query: nodes },
    ]
  }
}

interface Moment {
  monotonic: number
  wall: number
}

const momentOf = (clock: Clock): Moment => ({ monotonic: monotonicOf(clock), wall: clock.wall?.() ?? clock.now() })
