import { type Clock, MINUTE, SECOND } from '../lib/index.ts'
import { type BatchOperation, type ClientDemandTable, chunksOf, type Store } from '../store/index.ts'
import type { ClientMeter } from './limits.ts'

interface DemandOptions {
  store: Store
  clock: Clock
  nodeId: string
  /** The meter of every client by its id; read again each round. */
  meters: ReadonlyMap<string, ClientMeter>
  /** How many nodes take requests now, with this one. */
  nodes: () => Promise<number>
}

/**
 * How often the nodes publish their demand. Measured in simulation with three times the limit, all of it on one of three nodes
 * and on another one every five seconds: with rounds of a quarter of a second 89 % of the limit gets through, of half a second
 * 71 %. A load that stays on its node gets all of it either way.
 */
export const ROUND_INTERVAL_MS = SECOND / 4
/** A node that has published nothing new for this long counts as one without demand: it may have died. */
const FRESH_MS = 2 * SECOND
/** Rows this old belong to dead nodes: far more than the nodes' clocks differ. */
const ABANDONED_AFTER_MS = MINUTE

/** What another node has published. */
interface SeenDemand {
  demand: number
  /** By the clock of the node that published it: only shows whether it has published again. */
  measuredAt: number
  /** When this node first saw it. */
  seenAt: number
}

/**
 * Divides every limited client's rate among the nodes, by how many requests each of them gets.
 *
 * Each round a node measures its demand, publishes it in the store, reads what the others have published, and sets its shares.
 * It computes with the smaller of what it published in the last two rounds: what it gives up is free at once, and what it asks
 * for it takes one round later, when every other node has had the time to read it. So the shares never add up to more than the
 * limit, even while demand moves. While the store does not answer, the shares stay as they are.
 */
export class Demand {
  readonly #options: DemandOptions
  #measuredAt: number
  #nodes = 1
  #clearedAt = 0
  /** Smoothed arrivals by client, requests per second; only of clients that have some. */
  #demands: ReadonlyMap<string, number> = new Map()
  /** What this node published in the last round, and in the one before. */
  #published: ReadonlyMap<string, number> = new Map()
  #publishedBefore: ReadonlyMap<string, number> = new Map()
  /** What the others have published, by `client/node`. */
  #seen: ReadonlyMap<string, SeenDemand> = new Map()
  /** The same, summed by client. */
  #others: ReadonlyMap<string, number> = new Map()

  constructor(options: DemandOptions) {
    this.#options = options
    this.#measuredAt = options.clock.now()
  }

  /** @throws StoreError; the shares then stay, and the next round continues. */
  async tick(): Promise<void> {
    this.#measure()
    await this.#publish()
    await this.#readOthers()
    this.#divide()
  }

  #measure(): void {
    const now = this.#options.clock.now()
    // A clock that was set back distorts one round.
    const elapsed = Math.abs(now - this.#measuredAt)
    if (elapsed === 0) return
    this.#measuredAt = now
    const demands = new Map<string, number>()
    for (const [id, meter] of this.#options.meters) {
      const arrivals = meter.takeArrivals()
      const before = this.#demands.get(id) ?? 0
      if (arrivals === 0 && before === 0) continue
      const demand = demandAfter(before, arrivals, elapsed)
      if (demand > 0) demands.set(id, demand)
    }
    this.#demands = demands
  }

  async #publish(): Promise<void> {
    const published = new Map<string, number>()
    for (const [id, demand] of this.#demands) {
      const limit = this.#options.meters.get(id)?.limits.requestsPerSecond ?? null
      if (limit === null || !isWorthPublishing(limit, demand, this.#others.get(id) ?? 0, this.#nodes)) continue
      published.set(id, Math.ceil(demand))
    }
    const withdrawn = [...this.#published.keys()].filter((id) => !published.has(id))
    const operations = [...this.#upserts(published), ...this.#removals(withdrawn), ...this.#cleanup()]
    if (operations.length > 0) await this.#options.store.batch(operations)
    this.#publishedBefore = this.#published
    this.#published = published
  }

  #upserts(published: ReadonlyMap<string, number>): BatchOperation[] {
    const { store, nodeId } = this.#options
    const rows: ClientDemandTable[] = [...published].map(([id, demand]) => ({
      client_id: id,
      node_id: nodeId,
      measured_at: this.#measuredAt,
      requests_per_second: demand,
    }))
    return chunksOf(rows).map((values) => ({
      kind: 'statement',
      query: store.write
        .insertInto('client_demand')
        .values(values)
        .onConflict((conflict) =>
          conflict.columns(['client_id', 'node_id']).doUpdateSet((eb) => ({
            measured_at: eb.ref('excluded.measured_at'),
            requests_per_second: eb.ref('excluded.requests_per_second'),
          })),
        )
        .compile(),
    }))
  }

  #removals(ids: readonly string[]): BatchOperation[] {
    const { store, nodeId } = this.#options
    return chunksOf(ids).map((chunk) => ({
      kind: 'statement',
      query: store.write
        .deleteFrom('client_demand')
        .where('node_id', '=', nodeId)
        .where('client_id', 'in', chunk)
        .compile(),
    }))
  }

  #cleanup(): BatchOperation[] {
    const now = this.#measuredAt
    if (Math.abs(now - this.#clearedAt) < ABANDONED_AFTER_MS) return []
    this.#clearedAt = now
    const abandoned = this.#options.store.write
      .deleteFrom('client_demand')
      .where('measured_at', '<', now - ABANDONED_AFTER_MS)
    return [{ kind: 'statement', query: abandoned.compile() }]
  }

  async #readOthers(): Promise<void> {
    const { store, clock, nodeId, nodes } = this.#options
    const [rows, count] = await Promise.all([
      store.read.selectFrom('client_demand').selectAll().where('node_id', '!=', nodeId).execute(),
      nodes(),
    ])
    const now = clock.now()
    const seen = new Map<string, SeenDemand>()
    const others = new Map<string, number>()
    for (const row of rows) {
      const key = `${row.client_id}/${row.node_id}`
      const before = this.#seen.get(key)
      // Clocks of two nodes are never compared: they may differ by more than the answer may be old.
      const seenAt = before?.measuredAt === row.measured_at ? before.seenAt : now
      seen.set(key, { demand: row.requests_per_second, measuredAt: row.measured_at, seenAt })
      if (now - seenAt >= FRESH_MS) continue
      others.set(row.client_id, (others.get(row.client_id) ?? 0) + row.requests_per_second)
    }
    this.#seen = seen
    this.#others = others
    this.#nodes = Math.max(1, count)
  }

  #divide(): void {
    for (const [id, meter] of this.#options.meters) {
      const limit = meter.limits.requestsPerSecond
      if (limit === null) continue
      const mine = Math.min(this.#published.get(id) ?? 0, this.#publishedBefore.get(id) ?? 0)
      const share = shareOf(limit, mine, this.#others.get(id) ?? 0, this.#nodes) / limit
      if (share !== meter.share) meter.setShare(share)
    }
  }
}

/**
 * One node's share of a client's rate, requests per second. Unclaimed rate is divided equally, so that every node can take new
 * load at once; when demand exceeds the rate, the rate is divided by demand.
 *
 * The shares of nodes that compute with the same demands add up to exactly `limit`, whatever the demands are.
 *
 * @param mine the demand that this node has published: 0 when it has published none
 * @param others the sum of what the other nodes have published
 * @param nodes the number of all nodes, including this one and those without demand
 */
export function shareOf(limit: number, mine: number, others: number, nodes: number): number {
  const total = mine + others
  return total < limit ? mine + (limit - total) / nodes : (limit * mine) / total
}

/**
 * Whether a node has to publish its demand. Below half of what it gets unpublished it publishes nothing, and computes with 0 as
 * the others do: so the sum of all shares stays the same, and clients far below their limit cost nothing. When the others ask
 * for the whole limit that half is 0, and any demand is published.
 */
export const isWorthPublishing = (limit: number, demand: number, others: number, nodes: number): boolean =>
  demand > 0 && demand >= shareOf(limit, 0, others, nodes) / 2

/** Demand below this counts as none, requests per second. */
const NO_DEMAND = 0.1
/** Weight of the newest round where chance can explain the difference from the rounds before … */
const WEIGHT_OF_CHANCE = 0.15
/** … and where it cannot. */
const WEIGHT_OF_CHANGE = 0.9

/**
 * A node's demand after one more round, requests per second. A few requests in a round prove little, so the demand must not
 * flicker with them; a load that starts or stops has to show at once.
 *
 * @param before the demand up to this round
 * @param arrivals requests in this round, which took `elapsed` ms
 */
export function demandAfter(before: number, arrivals: number, elapsed: number): number {
  const expected = (before * elapsed) / SECOND
  // Two standard deviations of what arrives independently of each other.
  const isChange = Math.abs(arrivals - expected) > 2 * Math.sqrt(Math.max(arrivals, expected))
  const weight = isChange ? WEIGHT_OF_CHANGE : WEIGHT_OF_CHANCE
  const demand = before + weight * ((arrivals * SECOND) / elapsed - before)
  return demand < NO_DEMAND ? 0 : demand
}
