import { type BatchPayload, type EventPayload, isBatch, type Payload } from '../journal/index.ts'
import { floorTo, MINUTE, storable } from '../lib/index.ts'
import { CANARY_PREFIX, isCanaryOf } from '../management/index.ts'
import { type SqlValue, type Store, upsertInto } from '../store/index.ts'
import type { SiteEntry } from './key-index.ts'

/** Per payload: a batch may hold any number of names, while probes send one at a time. */
const NAMES_MAX = 20
const TAGS_MAX = 20
const TAG_NAME_MAX = 100
/**
 * Arrivals recorded for a site in a minute, and for all sites until the next write. Anyone with a site's key can make up any
 * number of names.
 */
const SITE_MINUTE_MAX = 20
const WAITING_MAX = 10_000

/** The canaries in a payload, by name only. The site's key shows later which of them are its own. */
export interface Canaries {
  names: readonly string[]
  isBatched: boolean
  /** The tags that ran on the event; empty for a batch, which does not say. */
  tags: readonly string[]
}

interface Split {
  /** What is left to count; null when nothing is. */
  payload: Payload | null
  canaries: Canaries | null
}

/** Takes canaries out of a payload. No event with their prefix is counted, from any sender. */
export const withoutCanaries = (payload: Payload): Split =>
  isBatch(payload) ? splitBatch(payload) : splitEvent(payload)

function splitEvent(payload: EventPayload): Split {
  if (!payload.event_name.startsWith(CANARY_PREFIX)) return { payload, canaries: null }
  const tags = payload.tags.slice(0, TAGS_MAX).map(({ id, name }) => (name || `tag_${id}`).slice(0, TAG_NAME_MAX))
  return { payload: null, canaries: { names: [payload.event_name], isBatched: false, tags } }
}

/** The canary's tags stay in a batch's sums, because nothing says which they were. A batch of nothing but canaries is not counted. */
function splitBatch(payload: BatchPayload): Split {
  const { event_counts: counts = {} } = payload
  const names = Object.keys(counts).filter((name) => name.startsWith(CANARY_PREFIX))
  if (names.length === 0) return { payload, canaries: null }
  const canaries = { names: names.slice(0, NAMES_MAX), isBatched: true, tags: [] }
  const total = payload.total_events - names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  if (total <= 0) return { payload: null, canaries }
  const left = Object.fromEntries(Object.entries(counts).filter(([name]) => !name.startsWith(CANARY_PREFIX)))
  return { payload: { ...payload, total_events: total, event_counts: left }, canaries }
}

const arrivals = upsertInto('canary_arrivals', {
  keys: ['site_no', 'event_name'],
  fixed: ['arrived_at', 'is_batched', 'tags'],
})

/**
 * Records canaries that arrived, and writes them after the answer. A crash may lose those of the last second; the next canary
 * then shows that all is well.
 */
export class CanaryBook {
  readonly #store: Store
  #waiting: SqlValue[][] = []
  /** How many were recorded in `#minute`, by site. */
  #noted = new Map<number, number>()
  #minute = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** @param now when they were accepted, epoch ms */
  arrived({ siteNo, keys }: Pick<SiteEntry, 'siteNo' | 'keys'>, canaries: Canaries, now: number): void {
    const minute = floorTo(now, MINUTE)
    if (minute !== this.#minute) {
      this.#noted.clear()
      this.#minute = minute
    }
    for (const name of canaries.names) {
      const noted = this.#noted.get(siteNo) ?? 0
      if (noted >= SITE_MINUTE_MAX || this.#waiting.length >= WAITING_MAX) return
      // Any key of the site: the canary may have been made before a rotation, or come with another key.
      if (!keys.some((key) => isCanaryOf(key, name))) continue
      this.#noted.set(siteNo, noted + 1)
      const tags = JSON.stringify(canaries.tags.map(storable))
      this.#waiting.push([siteNo, name, now, Number(canaries.isBatched), tags])
    }
  }

  /** Writes what was recorded since the last call. @throws StoreError; the next call writes it then */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    try {
      await this.#store.batch([{ kind: 'upsert', spec: arrivals, values: waiting.flat() }])
    } catch (thrown) {
      this.#waiting = [...waiting, ...this.#waiting].slice(0, WAITING_MAX)
      throw thrown
    }
  }
}
