import { type BatchPayload, type EventPayload, isBatch, type Payload } from '../journal/index.ts'
import { floorTo, MINUTE, storable } from '../lib/index.ts'
import { CANARY_PREFIX, isCanaryOf } from '../management/index.ts'
import { type SqlValue, type Store, upsertInto } from '../store/index.ts'
import type { SiteEntry } from './key-index.ts'

/** Of one payload: a batch may hold names without end, and probes send one at a time. */
const NAMES_MAX = 20
const TAGS_MAX = 20
const TAG_NAME_MAX = 100
/** Arrivals noted of a site in a minute, and of all sites until they are written. A sender with the key can make as many names as they like. */
const SITE_MINUTE_MAX = 20
const WAITING_MAX = 10_000

/** The canaries in a payload, by name only: which of them are the site's own shows with its key. */
export interface Canaries {
  names: readonly string[]
  isBatched: boolean
  /** The tags that ran on it; of a batch none, which says nothing of them. */
  tags: readonly string[]
}

interface Split {
  /** What is counted; null when nothing is left. */
  payload: Payload | null
  canaries: Canaries | null
}

/** Takes canaries out of a payload: nothing that begins as their names do is counted, from any sender. */
export const withoutCanaries = (payload: Payload): Split =>
  isBatch(payload) ? splitBatch(payload) : splitEvent(payload)

function splitEvent(payload: EventPayload): Split {
  if (!payload.event_name.startsWith(CANARY_PREFIX)) return { payload, canaries: null }
  const tags = payload.tags.slice(0, TAGS_MAX).map(({ id, name }) => (name || `tag_${id}`).slice(0, TAG_NAME_MAX))
  return { payload: null, canaries: { names: [payload.event_name], isBatched: false, tags } }
}

/** The tags that ran on it stay in the sums of a batch, as nothing says which they were; of a batch of canaries only nothing is counted. */
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
 * Notes canaries that arrived, and writes them after the answer: a crash may lose those of the last second, and the next canary
 * shows that nothing was wrong.
 */
export class CanaryBook {
  readonly #store: Store
  #waiting: SqlValue[][] = []
  /** By site, how many were noted in that minute. */
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
      // It may have been made before a rotation, or come with another key of the site.
      if (!keys.some((key) => isCanaryOf(key, name))) continue
      this.#noted.set(siteNo, noted + 1)
      const tags = JSON.stringify(canaries.tags.map(storable))
      this.#waiting.push([siteNo, name, now, Number(canaries.isBatched), tags])
    }
  }

  /** Writes what was noted since the last call. @throws StoreError; it is then written with the next call */
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
