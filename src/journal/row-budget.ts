import { floorTo, HOUR, MINUTE } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

/** New rows that a site may add at once, and the refill per minute. Beyond that, counts go to the row of `(other)`. */
export const ROWS_AT_ONCE = 20_000
export const ROWS_PER_MINUTE = 1_000
/** This many writes a minute are not tracked, as they are fewer than the refill. */
const UNTRACKED = 500
/** A budget unused for this long is full again. */
const FULL_AFTER_MS = HOUR

/**
 * Limits the new rows of one site. Names and containers are capped by the day, but their combinations, over all the minutes that
 * an event may fall on, would still let a few thousand requests make millions of rows.
 *
 * A row counts as new unless it was written recently: a minute's row within this minute, an hour's row within this hour. Times
 * are times of acceptance, epoch ms.
 */
export class RowBudget {
  #tokens = ROWS_AT_ONCE
  #minute = 0
  #hour = 0
  #writes = 0
  /** Made when something is tracked, because every site has a budget. */
  #ofMinute: Set<string> | undefined
  #ofHour: Set<string> | undefined

  /** Whether a minute's row may be written: it exists already, or there is budget for another. */
  admitsMinute(at: number, ...key: (string | number)[]): boolean {
    return this.#admits(at, () => (this.#ofMinute ??= new Set()), key)
  }

  /** The same for an hour's row. */
  admitsHour(at: number, ...key: (string | number)[]): boolean {
    return this.#admits(at, () => (this.#ofHour ??= new Set()), key)
  }

  /** When it was last used, to the minute. */
  get usedAt(): number {
    return this.#minute
  }

  #admits(at: number, knownNow: () => Set<string>, key: (string | number)[]): boolean {
    this.#moveOn(at)
    if (++this.#writes <= UNTRACKED) return true
    const known = knownNow()
    const text = key.join('\0')
    if (known.has(text)) return true
    if (this.#tokens < 1) return false
    this.#tokens--
    known.add(text)
    return true
  }

  #moveOn(at: number): void {
    const minute = floorTo(at, MINUTE)
    // Rows that waited in the journal are a few minutes older. Anything older by an hour means that the clock was ahead; without
    // this, nothing would be refilled until it is there again.
    const isClockSetBack = minute < this.#minute - FULL_AFTER_MS
    if (minute <= this.#minute && !isClockSetBack) return
    const passed = isClockSetBack ? 0 : (minute - this.#minute) / MINUTE
    this.#tokens = Math.min(ROWS_AT_ONCE, this.#tokens + passed * ROWS_PER_MINUTE)
    this.#minute = minute
    this.#writes = 0
    this.#ofMinute = undefined
    const hour = floorTo(at, HOUR)
    if (hour === this.#hour) return
    this.#hour = hour
    this.#ofHour = undefined
  }
}

/**
 * The budgets of all sites of a store. One set for the process, because spilled counts are folded by another folder, out of the
 * same budget.
 */
export class RowBudgets {
  static readonly #byStore = new WeakMap<Store, RowBudgets>()
  readonly #budgets = new Map<number, RowBudget>()
  #sweptAt = 0

  static of(store: Store): RowBudgets {
    let budgets = RowBudgets.#byStore.get(store)
    if (budgets === undefined) {
      budgets = new RowBudgets()
      RowBudgets.#byStore.set(store, budgets)
    }
    return budgets
  }

  /** @param now epoch ms */
  find(siteNo: number, now: number): RowBudget {
    if (now > this.#sweptAt + FULL_AFTER_MS) this.#sweep(now)
    let budget = this.#budgets.get(siteNo)
    if (budget === undefined) {
      budget = new RowBudget()
      this.#budgets.set(siteNo, budget)
    }
    return budget
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [siteNo, budget] of this.#budgets) {
      if (budget.usedAt < now - FULL_AFTER_MS) this.#budgets.delete(siteNo)
    }
  }
}
