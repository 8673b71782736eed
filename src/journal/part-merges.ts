import { floorTo, MINUTE } from '../lib/index.ts'
import type { SiteMinute } from '../rollups/index.ts'
import type { Cell } from './delta.ts'
import { FUTURE_LIMIT_MS } from './payload.ts'

/** Most sites noted of a minute: with more, few have a second part. */
const MOST_SITES = 20_000
/** Most minutes waiting to be merged; merges that are left out cost readers time, and nothing else. */
const MOST_DUE = 6_000
/** Minutes that parts are still added to: the current one, and the one before, whose counts may wait in a lane. */
const OPEN_MINUTES = 2
/** Most minutes noted at a time: those, and as many as a sender's clock may be ahead. */
const MOST_MINUTES = OPEN_MINUTES + FUTURE_LIMIT_MS / MINUTE

/**
 * Parts added to a minute that is over until it is merged again. Few events come late, but a sender may spread its events over an hour of
 * minutes and fifty containers: then each fold adds a part to each of them, and every report of the hour would add up a million.
 */
const LATE_PARTS = 20
/** Most minutes whose late parts are counted; the one counted for longest is forgotten. */
const MOST_LATE = 20_000

/** Sites that have one part in a minute, and those that have more. */
interface Noted {
  once: Set<number>
  again: Set<number>
}

/**
 * Notes which minutes have several parts, so that they can be merged once they are over. That they are over is told by our own clock:
 * senders' clocks may be minutes ahead.
 */
export class PartMerges {
  readonly #open = new Map<number, Noted>()
  readonly #due: SiteMinute[] = []
  readonly #late = new Map<string, number>()
  #firstOpen = Number.NEGATIVE_INFINITY

  /** Parts of these cells are in the store. */
  note(siteNo: number, cells: Iterable<Pick<Cell, 'minute'>>): void {
    for (const { minute } of cells) {
      if (minute < this.#firstOpen) {
        this.#noteLate(siteNo, minute)
        continue
      }
      const noted = this.#notedOf(minute)
      if (noted === undefined) continue
      if (noted.once.has(siteNo)) noted.again.add(siteNo)
      else if (noted.once.size < MOST_SITES) noted.once.add(siteNo)
    }
  }

  /**
   * Removes and returns up to so many minutes to merge, the oldest first.
   *
   * @param now epoch ms
   */
  take(most: number, now: number): SiteMinute[] {
    this.#firstOpen = floorTo(now, MINUTE) - (OPEN_MINUTES - 1) * MINUTE
    for (const minute of [...this.#open.keys()].sort((a, b) => a - b)) if (minute < this.#firstOpen) this.#close(minute)
    return this.#due.splice(0, most)
  }

  #noteLate(siteNo: number, minute: number): void {
    const key = `${siteNo}|${minute}`
    const parts = (this.#late.get(key) ?? 0) + 1
    if (parts < LATE_PARTS) {
      this.#late.set(key, parts)
      const [first] = this.#late.keys()
      if (this.#late.size > MOST_LATE && first !== undefined) this.#late.delete(first)
      return
    }
    this.#late.delete(key)
    this.#push(siteNo, minute)
  }

  /** Undefined for a minute that is farther ahead than any that a sender's clock may name. */
  #notedOf(minute: number): Noted | undefined {
    const known = this.#open.get(minute)
    if (known !== undefined) return known
    if (this.#open.size >= MOST_MINUTES) return undefined
    const noted = { once: new Set<number>(), again: new Set<number>() }
    this.#open.set(minute, noted)
    return noted
  }

  #close(minute: number): void {
    for (const siteNo of this.#open.get(minute)?.again ?? []) this.#push(siteNo, minute)
    this.#open.delete(minute)
  }

  #push(siteNo: number, minute: number): void {
    if (this.#due.length < MOST_DUE) this.#due.push({ siteNo, minute })
  }
}
