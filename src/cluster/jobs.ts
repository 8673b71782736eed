import { type Clock, Loop } from '../lib/index.ts'
import { exclusively, expiring, type Leases } from './leases.ts'

export interface JobsOptions {
  clock: Clock
  leases: Leases
  onError: (error: Error, loop: string) => void
}

/** Background loops that start and stop together. Each has one name, which its lease shares if it has one. */
export class Jobs {
  readonly loops: Loop[] = []
  readonly #options: JobsOptions
  #isStopping = false

  constructor({ clock, leases, onError }: JobsOptions) {
    this.#options = { clock, leases, onError }
  }

  /** Adds a job that runs on every node. */
  onEveryNode(name: string, intervalMs: number, tick: () => Promise<void>): this {
    const { clock, onError } = this.#options
    this.loops.push(new Loop({ name, clock, intervalMs, tick, onError }))
    return this
  }

  /**
   * Adds a job that runs on one node at a time.
   *
   * @param work gets a function to ask between its steps: false when this stops or the lease is lost
   */
  onOneNode(name: string, intervalMs: number, work: (shouldContinue: () => boolean) => Promise<void>): this {
    const tick = exclusively(this.#options.leases, name, (isOurs) => work(() => !this.#isStopping && isOurs()))
    return this.onEveryNode(name, intervalMs, tick)
  }

  /**
   * Adds a job that deletes by age: on one node at a time, and not while the clock is in doubt.
   *
   * @param work gets the time by which to judge age, epoch ms, and a function to ask between its steps
   */
  deletingByAge(
    name: string,
    intervalMs: number,
    work: (now: number, shouldContinue: () => boolean) => Promise<void>,
  ): this {
    const tick = expiring(this.#options.leases, name, (now, shouldContinue) =>
      work(now, () => !this.#isStopping && shouldContinue()),
    )
    return this.onEveryNode(name, intervalMs, tick)
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** Waits for current steps, not for whole rounds. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.loops.map((loop) => loop.stop()))
  }
}

/** A part of a node's work that consists of jobs only. */
export abstract class JobRunner {
  protected readonly jobs: Jobs

  constructor({ clock, leases, onError }: JobsOptions) {
    this.jobs = new Jobs({ clock, leases, onError })
  }

  get loops(): readonly Loop[] {
    return this.jobs.loops
  }

  start(): void {
    this.jobs.start()
  }

  stop(): Promise<void> {
    return this.jobs.stop()
  }
}
