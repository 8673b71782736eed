import type { Clock } from '../src/lib/index.ts'

/** The default time of tests. */
export const NOW = Date.parse('2026-11-20T10:00:00.000Z')

/** A clock that changes only when a test sets it. */
export class TestClock implements Clock {
  #now: number

  constructor(now: number | string) {
    this.#now = typeof now === 'string' ? Date.parse(now) : now
  }

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
  }

  set(now: number | string): void {
    this.#now = typeof now === 'string' ? Date.parse(now) : now
  }
}

export const newClock = (): TestClock => new TestClock(NOW)

/** A machine's clock with monotonic time, which a test can also set. */
export class MachineClock implements Clock {
  #monotonic = 0
  #ahead: number

  constructor(now: number) {
    this.#ahead = now
  }

  now(): number {
    return this.#monotonic + this.#ahead
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#monotonic += ms
  }

  /** Sets the clock, as an operator would. */
  set(now: number): void {
    this.#ahead = now - this.#monotonic
  }
}
