/** Waits until it is this process's turn. */
export type Step = () => Promise<void>

/**
 * Runs bodies as if each were a process of its own, one at a time: a body runs from one of its steps to the next, then
 * `choose` says whose turn it is. All that happens is decided by `choose`.
 *
 * @param choose takes the number of bodies that are not at their end, and picks one
 */
export async function inTurns(
  bodies: readonly ((step: Step) => Promise<unknown>)[],
  choose: (count: number) => number,
): Promise<void> {
  const processes = bodies.map((body) => new Process(body))
  for (;;) {
    const alive = processes.filter((process) => !process.hasEnded)
    if (alive.length === 0) return
    await alive[choose(alive.length) % alive.length]?.run()
  }
}

class Process {
  readonly #result: Promise<void>
  #resume = Promise.withResolvers<void>()
  #pause = Promise.withResolvers<void>()
  hasEnded = false

  constructor(body: (step: Step) => Promise<unknown>) {
    const step: Step = async () => {
      this.#resume = Promise.withResolvers()
      this.#pause.resolve()
      await this.#resume.promise
    }
    this.#result = this.#start(body, step)
    // Reported to the caller that runs it; until then it is unhandled.
    this.#result.catch(() => undefined)
  }

  async #start(body: (step: Step) => Promise<unknown>, step: Step): Promise<void> {
    try {
      await this.#resume.promise
      await body(step)
    } finally {
      this.hasEnded = true
    }
  }

  /** Lets it run to its next step or its end. @throws what the body throws */
  async run(): Promise<void> {
    this.#pause = Promise.withResolvers()
    this.#resume.resolve()
    await Promise.race([this.#pause.promise, this.#result])
  }
}
