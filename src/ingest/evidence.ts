import { floorTo, MINUTE } from '../lib/index.ts'
import { type BatchOperation, type SqlValue, type Store, upsertInto } from '../store/index.ts'
import { keptPayload } from './kept.ts'
import type { Payload } from './payload.ts'

/** Accepted payloads, and rejections, that are kept to look at, per site. */
export const KEPT_PER_SITE = 50
/**
 * Payloads and rejections written down per flush over all sites. Above this rate "the last 50" of a site become a
 * sample: keeping every payload of a busy node would cost more than counting it.
 */
const KEPT_PER_FLUSH = 2_000

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

/**
 * What people look at when a tag does not do what they expect: the last payloads as kept, and the last refusals with
 * their place. It is evidence, not a count, so it is written behind the answer and a crash may lose its last second.
 */
export class Evidence {
  readonly #store: Store
  #sites = new Map<number, SiteEvidence>()
  #kept = 0
  #lastId = 0

  constructor(store: Store) {
    this.#store = store
  }

  accepted(siteNo: number, payload: Payload, at: number): void {
    if (this.#site(siteNo).accepted.push({ at, payload }, this.#kept < KEPT_PER_FLUSH)) this.#kept++
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
    const operations: BatchOperation[] = []
    const counts: SqlValue[] = []
    for (const [siteNo, site] of sites) {
      operations.push(...this.#keepPayloads(siteNo, site), ...this.#keepRejections(siteNo, site))
      for (const { minute, reason, total } of site.counts.values()) counts.push(siteNo, minute, reason, total)
    }
    if (counts.length > 0) operations.push({ kind: 'upsert', spec: rejectionCounts, values: counts })
    if (operations.length > 0) await this.#store.batch(operations)
  }

  #site(siteNo: number): SiteEvidence {
    let site = this.#sites.get(siteNo)
    if (site === undefined) {
      site = { accepted: new LastOnes(), rejected: new LastOnes(), counts: new Map() }
      this.#sites.set(siteNo, site)
    }
    return site
  }

  #keepPayloads(siteNo: number, site: SiteEvidence): BatchOperation[] {
    const rows = site.accepted.inOrder().map(({ at, payload }) => ({
      site_no: siteNo,
      id: this.#nextId(at),
      accepted_at: at,
      payload: JSON.stringify(keptPayload(payload)),
    }))
    if (rows.length === 0) return []
    const insert = this.#store.write.insertInto('recent_payloads').values(rows).compile()
    return [
      { kind: 'statement', query: insert },
      { kind: 'statement', query: this.#prune('recent_payloads', siteNo) },
    ]
  }

  #keepRejections(siteNo: number, site: SiteEvidence): BatchOperation[] {
    const rows = site.rejected
      .inOrder()
      .map(({ at, reason, path }) => ({ site_no: siteNo, id: this.#nextId(at), rejected_at: at, reason, path }))
    if (rows.length === 0) return []
    const insert = this.#store.write.insertInto('rejections').values(rows).compile()
    return [
      { kind: 'statement', query: insert },
      { kind: 'statement', query: this.#prune('rejections', siteNo) },
    ]
  }

  #prune(table: 'recent_payloads' | 'rejections', siteNo: number) {
    const oldestKept = this.#store.write
      .selectFrom(table)
      .select('id')
      .where('site_no', '=', siteNo)
      .orderBy('id', 'desc')
      .limit(1)
      .offset(KEPT_PER_SITE - 1)
    return this.#store.write.deleteFrom(table).where('site_no', '=', siteNo).where('id', '<', oldestKept).compile()
  }

  /** Ids follow time, so that the newest are the largest; a thousand fit into a millisecond. */
  #nextId(at: number): number {
    this.#lastId = Math.max(this.#lastId + 1, at * 1_000)
    return this.#lastId
  }
}

/** The last `KEPT_PER_SITE` things pushed. */
class LastOnes<T> {
  readonly #items: T[] = []
  #pushed = 0

  /** True when it takes more room than before; refused when that is not allowed. */
  push(item: T, mayGrow: boolean): boolean {
    const isFull = this.#items.length >= KEPT_PER_SITE
    if (!isFull && !mayGrow) return false
    this.#items[this.#pushed % KEPT_PER_SITE] = item
    this.#pushed++
    return !isFull
  }

  inOrder(): T[] {
    const start = this.#pushed % KEPT_PER_SITE
    return this.#pushed <= KEPT_PER_SITE ? this.#items : [...this.#items.slice(start), ...this.#items.slice(0, start)]
  }
}
