import { FairQueue } from '../lib/index.ts'

/** A run that has no slot yet. */
interface QueuedRun {
  begin: () => void
  drop: () => void
}

/** How much of something each owner holds. */
export class Holdings {
  readonly #counts = new Map<string, number>()

  of(owner: string): number {
    return this.#counts.get(owner) ?? 0
  }

  /** Those who hold so much, or more. */
  ownersOf(least: number): string[] {
    return [...this.#counts].flatMap(([owner, count]) => (count >= least ? owner : []))
  }

  /** Until what `work` gives is settled the owner holds one more. */
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
 * A number of slots where work is done at the same time, and a queue before them, the owners in turn. The queue keeps the slots busy
 * between two rounds of claiming.
 */
export class RunSlots {
  readonly #size: number
  readonly #queueSize: number
  /** Runs whose time has not come. */
  readonly #early = new Map<QueuedRun, NodeJS.Timeout>()
  /** What is under way or waits here. */
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

  /** How much more can be taken on now. */
  get room(): number {
    return Math.max(0, this.#size + this.#queueSize - this.#busy - this.#queue.size - this.#early.size)
  }

  /** Owners who hold half of all places: no more of theirs is to be taken on, or work of theirs that hangs would keep out everyone's. */
  get sated(): string[] {
    return this.#held.ownersOf((this.#size + this.#queueSize) / 2)
  }

  /**
   * Does the work when its time has come and there is a slot. Undefined when it was dropped before it began.
   *
   * @param owner whose it is
   * @param waitMs how long it still is until its time. Not asked again when that is over: a clock that was set back meanwhile would
   *   keep it, and with it the probe, for as long as it went back.
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

  /** Drops all that has no slot yet. */
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
