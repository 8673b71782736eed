import { Kept, MINUTE } from '../lib/index.ts'
import { SITE_HEALTH_FRESH_MS } from './site-health.ts'

/** A page that no one opens for this long is forgotten, ms. */
const IDLE_MS = 10 * MINUTE

/** What is shown to callers without a key. A page with many readers is made as often as one with a single one. */
export class KeptPages<T> {
  readonly #open: (key: string) => (now: number) => Promise<T>
  readonly #pages = new Map<string, { content: Kept<T>; askedAt: number }>()

  /** @param open called when a page is first asked for; what it returns makes the page */
  constructor(open: (key: string) => (now: number) => Promise<T>) {
    this.#open = open
  }

  async of(key: string, now: number): Promise<T> {
    const page = this.#pages.get(key) ?? this.#add(key, now)
    page.askedAt = now
    return page.content.get(now)
  }

  #add(key: string, now: number) {
    for (const [other, { askedAt }] of this.#pages) if (now - askedAt > IDLE_MS) this.#pages.delete(other)
    const page = { content: new Kept(SITE_HEALTH_FRESH_MS, this.#open(key)), askedAt: now }
    this.#pages.set(key, page)
    return page
  }
}
