import type { Clock } from '../../src/lib/index.ts'

/** A clock that stands still until it is told to move. */
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
