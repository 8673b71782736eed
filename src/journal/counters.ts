/** Numbers in the first chunk: enough for an event with a dozen tags. */
const FIRST_CHUNK = 256
/** Numbers in further chunks: 64 KiB. */
const CHUNK = 8_192

/**
 * The counters of one event, tag or field, all zero at first: a slice of a chunk that many share.
 *
 * An array for each lived just long enough to be moved to the old generation, and made up two fifths of what the garbage
 * collector moved. It does not visit the numbers in a chunk.
 */
export class Counters {
  readonly #chunk: Float64Array
  readonly #start: number
  readonly width: number

  constructor(chunk: Float64Array, start: number, width: number) {
    this.#chunk = chunk
    this.#start = start
    this.width = width
  }

  /** The counter at `index`, 0 ≤ `index` < `width`. */
  at(index: number): number {
    return this.#chunk[this.#start + index] ?? 0
  }

  add(index: number, n: number): void {
    const place = this.#start + index
    this.#chunk[place] = (this.#chunk[place] ?? 0) + n
  }

  addAll(others: Counters): void {
    for (let index = 0; index < others.width; index++) this.add(index, others.at(index))
  }

  /** Adds the numbers of `list` from `start` on. */
  addFrom(list: Float64Array, start: number): void {
    for (let index = 0; index < this.width; index++) this.add(index, list[start + index] ?? 0)
  }

  scale(factor: number): void {
    for (let place = this.#start; place < this.#start + this.width; place++) {
      this.#chunk[place] = (this.#chunk[place] ?? 0) * factor
    }
  }

  /** Appends all counters. */
  appendTo(list: (string | number | null)[]): void {
    for (let index = 0; index < this.width; index++) list.push(this.at(index))
  }
}

/** Chunks of released counters that are kept for the next: 4 MiB. */
const MOST_SPARE = 64

const spare: Float64Array[] = []

/** Allocates the counters of a delta. */
export class CounterPool {
  readonly #chunks: Float64Array[] = []
  #chunk: Float64Array | undefined
  #used = 0

  take(width: number): Counters {
    if (this.#chunk === undefined || this.#used + width > this.#chunk.length) {
      this.#chunk = this.#next(width)
      this.#used = 0
    }
    const counters = new Counters(this.#chunk, this.#used, width)
    this.#used += width
    return counters
  }

  /**
   * Lets other pools have the memory; none of the counters may be used afterwards. Left to the garbage collector, the chunks of
   * folds with 10,000 sites were 40 MB before it came to them.
   */
  release(): void {
    for (const chunk of this.#chunks.splice(0)) {
      if (spare.length < MOST_SPARE) spare.push(chunk.fill(0))
    }
    this.#chunk = undefined
  }

  #next(width: number): Float64Array {
    if (this.#chunk === undefined || width > CHUNK) return new Float64Array(Math.max(width, FIRST_CHUNK))
    const chunk = spare.pop() ?? new Float64Array(CHUNK)
    this.#chunks.push(chunk)
    return chunk
  }
}
