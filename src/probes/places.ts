/**
 * A number of places where work is done at the same time, and a queue before them, first come, first served. The queue keeps
 * the places busy between two rounds of claiming.
 */
export class Places {
  readonly #size: number
  readonly #queueSize: number
  #queue: { begin: () => void; drop: () => void }[] = []
  #busy = 0

  constructor(size: number, queueSize: number) {
    this.#size = size
    this.#queueSize = queueSize
  }

  get busy(): number {
    return this.#busy
  }

  /** How much more can be taken on now. */
  get room(): number {
    return Math.max(0, this.#size + this.#queueSize - this.#busy - this.#queue.length)
  }

  /** Does the work when there is a place. Undefined when it was dropped from the queue before. @throws what `work` throws */
  run<T>(work: () => Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        work()
          .finally(() => {
            this.#busy--
            this.#next()
          })
          .then(resolve, reject)
      }
      this.#queue.push({ begin, drop: () => resolve(undefined) })
      this.#next()
    })
  }

  /** Lets go of all that has no place yet. */
  dropQueue(): void {
    for (const { drop } of this.#queue.splice(0)) drop()
  }

  #next(): void {
    if (this.#busy >= this.#size) return
    const first = this.#queue.shift()
    if (first === undefined) return
    this.#busy++
    first.begin()
  }
}
