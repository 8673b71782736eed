import type { Counters } from './counters.ts'

/** The contents of a journal row; `row.ts` describes the format. */
export type Log = (string | number)[]

/** Reads a log from its beginning to its end. */
export class LogReader {
  readonly #log: Log
  /** Items read so far. */
  at = 0

  constructor(log: Log) {
    this.#log = log
  }

  get isAtEnd(): boolean {
    return this.at >= this.#log.length
  }

  /** Whether the next item is this text. If so, moves past it. */
  skips(text: string): boolean {
    if (this.#log[this.at] !== text) return false
    this.at++
    return true
  }

  number(): number {
    const value = this.#log[this.at++]
    if (typeof value !== 'number') throw new Error(`the journal holds ${typeof value} where a number belongs`)
    return value
  }

  text(): string {
    const value = this.#log[this.at++]
    if (typeof value !== 'string') throw new Error(`the journal holds ${typeof value} where a text belongs`)
    return value
  }

  /** Adds the next numbers to the first `width` counters. */
  addTo(counters: Counters, width = counters.width): void {
    for (let index = 0; index < width; index++) counters.add(index, this.number())
  }
}
