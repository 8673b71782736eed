import { randomInt } from 'node:crypto'
import type { CompiledQuery } from 'kysely'
import { floorTo, MINUTE } from '../lib/index.ts'
import { type BatchOperation, type SqlValue, type Store, upsertInto } from '../store/index.ts'
import type { Payload } from './payload.ts'

/** Accepted payloads, and rejections, that are kept to look at, per site. */
export const KEPT_PER_SITE = 50
/**
 * Payloads and rejections written down per flush over all sites. Above this rate "the last 50" of a site become a
 * sample: keeping every payload of a busy node would cost more than counting it.
 */
const KEPT_PER_FLUSH = 500
/** Largest body whose payload is kept to look at, bytes. */
export const KEPT_BYTES_MAX = 65_536
/**
 * Of one site and flush, bytes of bodies: fifty of two and a half kilobytes. With larger ones "the last 50" become a sample as well.
 * Without it one sender of large events had 3 MB a second written out as text and stored.
 */
const KEPT_BYTES_PER_FLUSH = 131_072
const IDS_PER_MS = 1_000

/** Why a request was refused: the `error` value of the answer. */
export type RejectionReason = 'invalid_payload' | 'forbidden' | 'payload_too_large' | 'rate_limited'

interface Rejection {
  at: number
  reason: RejectionReason
  path: string
}

interface SiteEvidence {
  accepted: LastOnes<{ at: number; payload: Payload }>
  rejected: LastOnes<Rejection>
  /** Rejections by minute and reason. */
  counts: Map<string, { minute: number; reason: RejectionReason; total: number }>
}

const rejectionCounts = upsertInto('rejection_counts', { keys: ['site_no', 'bucket', 'reason'], sums: ['total'] })
const recentPayloads = upsertInto('recent_payloads', { keys: ['site_no', 'id'], fixed: ['accepted_at', 'payload'] })
const recentRejections = upsertInto('rejections', {
  keys: ['site_no', 'id'],
  fixed: ['rejected_at', 'reason', 'path'],
})

/**
 * What people look at when a tag does not do what they expect: the last payloads as kept, and the last refusals with
 * their place. It is evidence, not a count, so it is written behind the answer and a crash may lose its last second.
 */
export class Evidence {
  readonly #store: Store
  readonly #pruning: readonly [KeptRows, KeptRows]
  #sites = new Map<number, SiteEvidence>()
  #kept = 0
  #lastId = 0

  constructor(store: Store) {
    this.#store = store
    this.#pruning = [new KeptRows(store, 'recent_payloads'), new KeptRows(store, 'rejections')]
  }

  /** @param size bytes of the body: large ones are counted and not kept, or fifty of them would be a report of their own */
  accepted(siteNo: number, payload: Payload, size: number, at: number): void {
    if (size > KEPT_BYTES_MAX) return
    const mayGrow = this.#kept < KEPT_PER_FLUSH
    if (mayGrow || this.#sites.has(siteNo)) {
      if (this.#site(siteNo).accepted.push({ at, payload }, mayGrow, size)) this.#kept++
    }
  }

  rejected(siteNo: number, reason: RejectionReason, path: string, at: number): void {
    const site = this.#site(siteNo)
    if (site.rejected.push({ at, reason, path }, this.#kept < KEPT_PER_FLUSH)) this.#kept++
    const minute = floorTo(at, MINUTE)
    const key = `${minute}|${reason}`
    const count = site.counts.get(key)
    if (count === undefined) site.counts.set(key, { minute, reason, total: 1 })
    else count.total++
  }

  /** Writes down what gathered since the last call. @throws StoreError; what gathered is then given up. */
  async flush(): Promise<void> {
    if (this.#sites.size === 0) return
    const sites = this.#sites
    this.#sites = new Map()
    this.#kept = 0
    const [keptPayloads, keptRejections] = this.#pruning
    const payloads: SqlValue[] = []
    const rejections: SqlValue[] = []
    const counts: SqlValue[] = []
    const prunes: BatchOperation[] = []
    // In one order on every node: they delete the same sites' oldest rows.
    for (const [siteNo, site] of [...sites].sort(([a], [b]) => a - b)) {
      for (const { at, payload } of site.accepted.inOrder()) {
        payloads.push(siteNo, this.#nextId(at), at, JSON.stringify(payload))
      }
      for (const { at, reason, path } of site.rejected.inOrder()) {
        rejections.push(siteNo, this.#nextId(at), at, reason, path)
      }
      for (const { minute, reason, total } of site.counts.values()) counts.push(siteNo, minute, reason, total)
      prunes.push(
        ...keptPayloads.added(siteNo, site.accepted.size),
        ...keptRejections.added(siteNo, site.rejected.size),
      )
    }
    await this.#store.batch([
      { kind: 'upsert', spec: recentPayloads, values: payloads },
      { kind: 'upsert', spec: recentRejections, values: rejections },
      { kind: 'upsert', spec: rejectionCounts, values: counts },
      ...prunes,
    ])
  }

  #site(siteNo: number): SiteEvidence {
    let site = this.#sites.get(siteNo)
    if (site === undefined) {
      site = { accepted: new LastOnes(), rejected: new LastOnes(), counts: new Map() }
      this.#sites.set(siteNo, site)
    }
    return site
  }

  /**
   * Ids follow time, so that the newest are the largest, and stay below 2^53 until the year 2255. Where in its millisecond
   * an id falls is left to chance, because the other nodes count too: of two that keep something of one site in the same
   * millisecond, one in a thousand loses it.
   */
  #nextId(at: number): number {
    this.#lastId = Math.max(this.#lastId + 1, at * IDS_PER_MS + randomInt(IDS_PER_MS))
    return this.#lastId
  }
}

/** Deletes a site's rows beyond the last ones, not with every flush but once as many have been added again. */
class KeptRows {
  readonly #prune: CompiledQuery
  /** Rows added since the last deletion; a site that is not there has not been pruned by this process. */
  readonly #added = new Map<number, number>()

  constructor(store: Store, table: 'recent_payloads' | 'rejections') {
    const oldestKept = store.write
      .selectFrom(table)
      .select('id')
      .where('site_no', '=', 0)
      .orderBy('id', 'desc')
      .limit(1)
      .offset(KEPT_PER_SITE - 1)
    this.#prune = store.write.deleteFrom(table).where('site_no', '=', 0).where('id', '<', oldestKept).compile()
  }

  added(siteNo: number, count: number): BatchOperation[] {
    if (count === 0) return []
    const sum = (this.#added.get(siteNo) ?? KEPT_PER_SITE) + count
    this.#added.set(siteNo, sum < KEPT_PER_SITE ? sum : 0)
    if (sum < KEPT_PER_SITE) return []
    const [, , ...rest] = this.#prune.parameters
    return [{ kind: 'statement', query: { ...this.#prune, parameters: [siteNo, siteNo, ...rest] } }]
  }
}

/** The last `KEPT_PER_SITE` things pushed, of those that there was room for. */
class LastOnes<T> {
  readonly #items: T[] = []
  readonly #sizes: number[] = []
  #bytes = 0
  #pushed = 0

  /** True when there is one more than before; refused when that is not allowed, or there are too many bytes. */
  push(item: T, mayGrow: boolean, size = 0): boolean {
    const isFull = this.#items.length >= KEPT_PER_SITE
    if (!isFull && !mayGrow) return false
    const place = this.#pushed % KEPT_PER_SITE
    const bytes = this.#bytes - (this.#sizes[place] ?? 0) + size
    if (bytes > KEPT_BYTES_PER_FLUSH) return false
    this.#items[place] = item
    this.#sizes[place] = size
    this.#bytes = bytes
    this.#pushed++
    return !isFull
  }

  get size(): number {
    return this.#items.length
  }

  inOrder(): T[] {
    const start = this.#pushed % KEPT_PER_SITE
    return this.#pushed <= KEPT_PER_SITE ? this.#items : [...this.#items.slice(start), ...this.#items.slice(0, start)]
  }
}
