import { FairQueue } from '../lib/index.ts'

/** A run that waits for a slot. */
interface QueuedRun {
  begin: () => void
  drop: () => void
}

/** Counts how much of something each owner holds. */
export class Holdings {
  readonly #counts = new Map<string, number>()

  of(owner: string): number {
    return this.#counts.get(owner) ?? 0
  }

  /** Owners that hold at least this much. */
  ownersOf(least: number): string[] {
    return [...this.#counts].flatMap(([owner, count]) => (count >= least ? owner : []))
  }

  /** Counts one more for the owner until the promise of `work` settles. */
  async during<T>(owner: string, work: () => Promise<T>): Promise<T> {
    this.#counts.set(owner, this.of(owner) + 1)
    try {
      return await work()
    } finally {
      const left = this.of(owner) - 1
      if (left > 0) this.#counts.set(owner, left)
      else this.#counts.delete(owner)
    }
  }
}

/**
 * Runs at most `size` pieces of work at a time. More wait in a queue that serves the owners in turn and keeps the slots busy
 * between two rounds of claiming.
 */
export class RunSlots {
  readonly #size: number
  readonly #queueSize: number
  /** Runs that are not due yet. */
  readonly #early = new Map<QueuedRun, NodeJS.Timeout>()
  /** What is running or waiting here, by owner. */
  readonly #held = new Holdings()
  readonly #queue = new FairQueue<QueuedRun>()
  #busy = 0

  constructor(size: number, queueSize: number) {
    this.#size = size
    this.#queueSize = queueSize
  }

  get busy(): number {
    return this.#busy
  }

  /** How many more runs fit now. */
  get room(): number {
    return Math.max(0, this.#size + this.#queueSize - this.#busy - this.#queue.size - this.#early.size)
  }

  /** Owners with half of all places. They get no more: otherwise, when their targets hang, no one else would get a slot. */
  get ownersAtLimit(): string[] {
    return this.#held.ownersOf((this.#size + this.#queueSize) / 2)
  }

  /**
   * Does the work when it is due and a slot is free. Resolves to undefined when `dropQueue` dropped it before it began.
   *
   * @param owner whose work it is
   * @param waitMs time until it is due. The clock is not read again when that is over: if it was set back meanwhile, the run,
   *   and with it the probe, would wait for as long again.
   * @throws what `work` throws
   */
  run<T>(owner: string, work: () => Promise<T>, waitMs = 0): Promise<T | undefined> {
    return this.#held.during(
      owner,
      () =>
        new Promise<T | undefined>((resolve, reject) => {
          const begin = () => {
            work()
              .finally(() => {
                this.#busy--
                this.#next()
              })
              .then(resolve, reject)
          }
          this.#enter(owner, { begin, drop: () => resolve(undefined) }, waitMs)
        }),
    )
  }

  /** Drops all runs without a slot. */
  dropQueue(): void {
    for (const timer of this.#early.values()) clearTimeout(timer)
    for (const { drop } of this.#early.keys()) drop()
    this.#early.clear()
    for (let run = this.#queue.take(); run !== undefined; run = this.#queue.take()) run.drop()
  }

  #enter(owner: string, run: QueuedRun, waitMs: number): void {
    if (waitMs > 0) {
      this.#early.set(
        run,
        setTimeout(() => this.#enter(owner, run, 0), waitMs),
      )
      return
    }
    this.#early.delete(run)
    this.#queue.push(owner, run)
    this.#next()
  }

  #next(): void {
    if (this.#busy >= this.#size) return
    const next = this.#queue.take()
    if (next === undefined) return
    this.#busy++
    next.begin()
  }
}
