import { randomInt } from 'node:crypto'
import type { CompiledQuery } from 'kysely'
import type { Payload } from '../journal/index.ts'
import { floorTo, MINUTE } from '../lib/index.ts'
import { type BatchOperation, NO_SITE, type SqlValue, type Store, upsertInto } from '../store/index.ts'

/** How many accepted payloads, and how many rejections, are kept for each site. */
export const SAMPLES_PER_SITE = 50
/**
 * Payloads and rejections written per flush for all sites together. Above this rate some are missing from a site's "last 50":
 * keeping every payload of a busy node would cost more than counting it.
 */
const SAMPLES_PER_FLUSH = 500
/**
 * This many of them are reserved for sites with up to `FEW` samples: five sites that were refused constantly took all of them,
 * and no other client could see why its requests were refused.
 */
const KEPT_FOR_FEW = 100
const FEW = 2
/** Samples after which a flush commits, to let other writers in: 2 kB each, and as many deleted, take some 5 ms. */
const SAMPLES_PER_COMMIT = 100
/** Largest body whose payload is kept, bytes. */
export const SAMPLE_BYTES_MAX = 65_536
/**
 * Bytes of one site's bodies kept per flush: 50 of 2.5 kB, or fewer larger ones. Without this limit, one sender of large events
 * made the service serialise and store 3 MB a second.
 */
const SAMPLE_BYTES_PER_FLUSH = 131_072
const IDS_PER_MS = 1_000

/** Why a request was refused: the `error` value of the answer. */
export type RejectionReason = 'invalid_payload' | 'forbidden' | 'payload_too_large' | 'rate_limited' | 'unavailable'
/** Why a request without a valid key header was refused, when something else in it reveals the site: see `Mistakes`. */
type MistakeReason = 'unauthorized' | 'method_not_allowed' | 'not_found'
/** Why a request of no known site was refused; `unauthorized`: no site has its key. The set is fixed, because each takes a row a minute. */
export type NoSiteReason = 'unauthorized' | 'malformed_key' | 'misplaced_key' | 'no_key' | 'method_not_allowed'
type KeptReason = RejectionReason | MistakeReason
type CountedReason = KeptReason | NoSiteReason

interface Rejection {
  at: number
  reason: KeptReason
  path: string
}

interface SiteSamples {
  accepted: RecentItems<{ at: number; payload: Payload | string }>
  rejected: RecentItems<Rejection>
  /** Rejections by minute and reason. */
  counts: Map<string, { minute: number; reason: CountedReason; total: number }>
}

const NO_SAMPLES = { accepted: { size: 0 }, rejected: { size: 0 } }

const rejectionCounts = upsertInto('rejection_counts', { keys: ['site_no', 'bucket', 'reason'], sums: ['total'] })
const recentPayloads = upsertInto('recent_payloads', { keys: ['site_no', 'id'], fixed: ['accepted_at', 'payload'] })
const recentRejections = upsertInto('rejections', {
  keys: ['site_no', 'id'],
  fixed: ['rejected_at', 'reason', 'path'],
})

/**
 * Records what people look at when a tag does not do what they expect: the last payloads, and the last rejections with their
 * path. These are samples, not counts: they are written after the answer, and a crash may lose the last second of them.
 */
export class SampleRecorder {
  readonly #store: Store
  readonly #pruning: readonly [SamplePruning, SamplePruning]
  #sites = new Map<number, SiteSamples>()
  #kept = 0
  #lastId = 0
  readonly #met = new Set<number>()

  constructor(store: Store) {
    this.#store = store
    this.#pruning = [new SamplePruning(store, 'recent_payloads'), new SamplePruning(store, 'rejections')]
  }

  /**
   * Whether a payload would be kept now. On a busy node most are not, so callers need not prepare them.
   *
   * @param size bytes of the body. Large ones are counted but not kept, or 50 of them would make a huge report
   */
  hasRoomFor(siteNo: number, size: number): boolean {
    if (size > SAMPLE_BYTES_MAX) return false
    const mayGrow = this.#mayGrow(siteNo)
    return this.#sites.get(siteNo)?.accepted.hasRoomFor(size, mayGrow) ?? mayGrow
  }

  /** @param payload without unknown fields, or as JSON. Dropped when there is no room for it */
  accepted(siteNo: number, payload: Payload | string, size: number, at: number): void {
    if (!this.hasRoomFor(siteNo, size)) return
    if (this.#site(siteNo).accepted.push({ at, payload }, size)) this.#kept++
  }

  rejected(siteNo: number, reason: KeptReason, path: string, at: number): void {
    const mayGrow = this.#mayGrow(siteNo)
    const site = this.#site(siteNo)
    const rejection = { at, reason, path }
    if (site.rejected.hasRoomFor(0, mayGrow) && site.rejected.push(rejection, 0)) this.#kept++
    countRejection(site, reason, at)
  }

  /** Counts a rejection under no site: it may explain the silence of some site. */
  rejectedOfNoSite(reason: NoSiteReason, at: number): void {
    countRejection(this.#site(NO_SITE), reason, at)
  }

  /** Writes what was recorded since the last call. @throws StoreError; those samples are then lost */
  async flush(): Promise<void> {
    if (this.#sites.size === 0) return
    const sites = this.#sites
    this.#sites = new Map()
    this.#kept = 0
    // In the same order on every node, as nodes delete the oldest rows of the same sites and would deadlock otherwise.
    let next: [siteNo: number, site: SiteSamples][] = []
    let samples = 0
    for (const entry of [...sites].sort(([a], [b]) => a - b)) {
      const [, { accepted, rejected }] = entry
      next.push(entry)
      samples += accepted.size + rejected.size
      if (samples < SAMPLES_PER_COMMIT) continue
      await this.#write(next)
      next = []
      samples = 0
    }
    if (next.length > 0) await this.#write(next)
  }

  async #write(sites: readonly [siteNo: number, site: SiteSamples][]): Promise<void> {
    const [keptPayloads, keptRejections] = this.#pruning
    await this.#goOnAfter(sites)
    const payloads: SqlValue[] = []
    const rejections: SqlValue[] = []
    const counts: SqlValue[] = []
    const prunes: BatchOperation[] = []
    for (const [siteNo, site] of sites) {
      for (const { at, payload } of site.accepted.inOrder()) {
        payloads.push(siteNo, this.#nextId(at), at, typeof payload === 'string' ? payload : JSON.stringify(payload))
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

  /**
   * Makes ids follow those that a clock that was ahead has left, for sites that this process writes for the first time. Rows that
   * another node has just written do not count: their times decide the order.
   */
  async #goOnAfter(sites: readonly [siteNo: number, site: SiteSamples][]): Promise<void> {
    const first = sites.filter(([siteNo, { accepted, rejected }]) => {
      return accepted.size + rejected.size > 0 && !this.#met.has(siteNo)
    })
    if (first.length === 0) return
    const unmet = first.map(([siteNo]) => siteNo)
    const latest = first
      .flatMap(([, { accepted, rejected }]) => [...accepted.inOrder(), ...rejected.inOrder()])
      .reduce((newest, { at }) => Math.max(newest, at), 0)
    for (const table of ['recent_payloads', 'rejections'] as const) {
      const newest = await this.#store.read
        .selectFrom(table)
        .select(({ fn }) => fn.max('id').as('id'))
        .where('site_no', 'in', unmet)
        .executeTakeFirst()
      const id = Number(newest?.id ?? 0)
      if (id > (latest + MINUTE) * IDS_PER_MS) this.#lastId = Math.max(this.#lastId, id)
    }
    for (const siteNo of unmet) this.#met.add(siteNo)
  }

  /** Whether another sample of the site may be kept. */
  #mayGrow(siteNo: number): boolean {
    if (this.#kept < SAMPLES_PER_FLUSH - KEPT_FOR_FEW) return true
    const { accepted, rejected } = this.#sites.get(siteNo) ?? NO_SAMPLES
    return this.#kept < SAMPLES_PER_FLUSH && accepted.size + rejected.size < FEW
  }

  #site(siteNo: number): SiteSamples {
    let site = this.#sites.get(siteNo)
    if (site === undefined) {
      site = { accepted: new RecentItems(), rejected: new RecentItems(), counts: new Map() }
      this.#sites.set(siteNo, site)
    }
    return site
  }

  /**
   * Ids follow time, so that the newest are the largest, and stay below 2^53 until the year 2255. Their position within the
   * millisecond is random, because other nodes assign ids too: two samples of one site from two nodes in the same millisecond
   * collide once in a thousand times, and then one is lost.
   */
  #nextId(at: number): number {
    this.#lastId = Math.max(this.#lastId + 1, at * IDS_PER_MS + randomInt(IDS_PER_MS))
    return this.#lastId
  }
}

function countRejection({ counts }: SiteSamples, reason: CountedReason, at: number): void {
  const minute = floorTo(at, MINUTE)
  const key = `${minute}|${reason}`
  const count = counts.get(key)
  if (count === undefined) counts.set(key, { minute, reason, total: 1 })
  else count.total++
}

/** Deletes a site's oldest samples, not with every flush but once `SAMPLES_PER_SITE` were added. */
class SamplePruning {
  readonly #prune: CompiledQuery
  /** Rows added since the last deletion; a site not in it was not pruned by this process yet. */
  readonly #added = new Map<number, number>()

  constructor(store: Store, table: 'recent_payloads' | 'rejections') {
    const oldestKept = store.write
      .selectFrom(table)
      .select('id')
      .where('site_no', '=', 0)
      .orderBy('id', 'desc')
      .limit(1)
      .offset(SAMPLES_PER_SITE - 1)
    this.#prune = store.write.deleteFrom(table).where('site_no', '=', 0).where('id', '<', oldestKept).compile()
  }

  added(siteNo: number, count: number): BatchOperation[] {
    if (count === 0) return []
    const sum = (this.#added.get(siteNo) ?? SAMPLES_PER_SITE) + count
    this.#added.set(siteNo, sum < SAMPLES_PER_SITE ? sum : 0)
    if (sum < SAMPLES_PER_SITE) return []
    const [, , ...rest] = this.#prune.parameters
    return [{ kind: 'statement', query: { ...this.#prune, parameters: [siteNo, siteNo, ...rest] } }]
  }
}

/** A ring buffer of the last `SAMPLES_PER_SITE` items, within the byte limit. */
class RecentItems<T> {
  readonly #items: T[] = []
  readonly #sizes: number[] = []
  #bytes = 0
  #pushed = 0

  /** Whether an item fits: not when the buffer would have to grow and may not, nor when it would exceed the byte limit. */
  hasRoomFor(size: number, mayGrow: boolean): boolean {
    return (mayGrow || this.#isFull) && this.#bytesWith(size) <= SAMPLE_BYTES_PER_FLUSH
  }

  /** Adds an item that there is room for, replacing the oldest when full. Returns whether the buffer grew. */
  push(item: T, size: number): boolean {
    const isFull = this.#isFull
    this.#bytes = this.#bytesWith(size)
    this.#items[this.#slot] = item
    this.#sizes[this.#slot] = size
    this.#pushed++
    return !isFull
  }

  get #isFull(): boolean {
    return this.#items.length >= SAMPLES_PER_SITE
  }

  /** The place of the next item. */
  get #slot(): number {
    return this.#pushed % SAMPLES_PER_SITE
  }

  #bytesWith(size: number): number {
    return this.#bytes - (this.#sizes[this.#slot] ?? 0) + size
  }

  get size(): number {
    return this.#items.length
  }

  inOrder(): T[] {
    const start = this.#pushed % SAMPLES_PER_SITE
    return this.#pushed <= SAMPLES_PER_SITE
      ? this.#items
      : [...this.#items.slice(start), ...this.#items.slice(0, start)]
  }
}
