/** Waits for this body's turn. */
export type Step = () => Promise<void>

/**
 * Runs bodies like separate processes, but one at a time: a body runs from one step to its next, then `choose` picks whose turn it is, so
 * it alone decides the order.
 *
 * @param choose receives the number of unfinished bodies and picks one
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
    // The error is reported to the caller of `run`; until then it must not count as unhandled.
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

  /** Runs it to its next step or its end. @throws the body's error */
  async run(): Promise<void> {
    this.#pause = Promise.withResolvers()
    this.#resume.resolve()
    await Promise.race([this.#pause.promise, this.#result])
  }
}
