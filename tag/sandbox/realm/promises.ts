import type { Inner, InnerFunction, Inside } from './inside.ts'
import type { Jobs } from './jobs.ts'

type Settle = (value: Inner) => void

/**
 * The sandbox's promises: objects with then, catch and finally, "functionally equivalent to a JavaScript promise" (T).
 * They are made by hand because their reactions have to run when the host says so: at the end of `runCode` in unit
 * tests, and not any more once an instance is lost.
 */
export class Promises {
  readonly #inside: Inside
  readonly #jobs: Jobs
  readonly #onUnhandled: (reason: Inner) => void

  /** `onUnhandled` is called with an unhandled rejection when the waiting jobs are done. */
  constructor(inside: Inside, jobs: Jobs, onUnhandled: (reason: Inner) => void) {
    this.#inside = inside
    this.#jobs = jobs
    this.#onUnhandled = onUnhandled
  }

  /** A promise of the sandbox. What `resolver` throws rejects it. */
  create(resolver: (resolve: Settle, reject: Settle) => void): Inner {
    const promise = new Deferred(this.#jobs, this.#onUnhandled)
    try {
      resolver(promise.resolve, promise.reject)
    } catch (error) {
      promise.reject(error)
    }
    return this.#expose(promise)
  }

  all(inputs: readonly Inner[]): Inner {
    return this.create((resolve, reject) => {
      const values: Inner[] = inputs.map(() => undefined)
      let missing = inputs.length
      const done = () => resolve(this.#inside.copy(values))
      if (missing === 0) done()
      for (const [index, input] of inputs.entries()) {
        const one = new Deferred(this.#jobs, this.#onUnhandled)
        one.react((value) => {
          values[index] = value
          missing--
          if (missing === 0) done()
        }, reject)
        one.resolve(input)
      }
    })
  }

  #expose(promise: Deferred): Inner {
    const chain = (onFulfilled: Inner, onRejected: Inner): Inner =>
      this.create((resolve, reject) => {
        promise.react(reaction(onFulfilled, resolve, reject, resolve), reaction(onRejected, resolve, reject, reject))
      })
    const methods: [string, InnerFunction][] = [
      ['then', chain],
      ['catch', (onRejected) => chain(undefined, onRejected)],
      ['finally', (onFinally) => this.#lastly(promise, onFinally)],
    ]
    return this.#inside.object(Object.fromEntries(methods.map(([name, method]) => [name, this.#inside.wrap(method)])))
  }

  #lastly(promise: Deferred, onFinally: Inner): Inner {
    return this.create((resolve, reject) => {
      const after = (settle: Settle) => (value: Inner) => {
        const wait = new Deferred(this.#jobs, this.#onUnhandled)
        wait.react(() => settle(value), reject)
        reaction(onFinally, wait.resolve, reject, wait.resolve)(undefined)
      }
      promise.react(after(resolve), after(reject))
    })
  }
}

/** Calls the handler with a value and settles with what comes of it; without a handler the value passes through. */
function reaction(handler: Inner, resolve: Settle, reject: Settle, passOn: Settle): Settle {
  return (value) => {
    if (typeof handler !== 'function') return passOn(value)
    const call = handler as InnerFunction
    try {
      resolve(call(value))
    } catch (error) {
      reject(error)
    }
  }
}

/** The state of one promise: settles once, and tells its reactions in a job of their own. */
class Deferred {
  readonly #jobs: Jobs
  readonly #onUnhandled: (reason: Inner) => void
  #reactions: { onFulfilled: Settle; onRejected: Settle }[] = []
  #settled: { rejected: boolean; value: Inner } | null = null
  #locked = false
  #handled = false

  constructor(jobs: Jobs, onUnhandled: (reason: Inner) => void) {
    this.#jobs = jobs
    this.#onUnhandled = onUnhandled
  }

  readonly resolve: Settle = (value) => {
    if (this.#locked) return
    this.#locked = true
    const then = thenOf(value)
    if (then === null) return this.#settle(false, value)
    this.#jobs.add(() => {
      const inner = new Deferred(this.#jobs, this.#onUnhandled)
      inner.react(
        (result) => this.#settle(false, result),
        (reason) => this.#settle(true, reason),
      )
      try {
        then(inner.resolve, inner.reject)
      } catch (error) {
        inner.reject(error)
      }
    })
  }

  readonly reject: Settle = (reason) => {
    if (this.#locked) return
    this.#locked = true
    this.#settle(true, reason)
  }

  react(onFulfilled: Settle, onRejected: Settle): void {
    this.#reactions.push({ onFulfilled, onRejected })
    if (this.#settled !== null) this.#tell()
  }

  #settle(rejected: boolean, value: Inner): void {
    this.#settled = { rejected, value }
    this.#tell()
    // Twice through the queue: a handler may be attached by a reaction that is waiting already.
    if (rejected) this.#jobs.add(() => this.#jobs.add(() => this.#reportIfUnhandled(value)))
  }

  #tell(): void {
    const settled = this.#settled
    if (settled === null) return
    for (const { onFulfilled, onRejected } of this.#reactions) {
      this.#handled = true
      this.#jobs.add(() => (settled.rejected ? onRejected : onFulfilled)(settled.value))
    }
    this.#reactions = []
  }

  #reportIfUnhandled(reason: Inner): void {
    if (!this.#handled) this.#onUnhandled(reason)
  }
}

/** Any object with a function `then` counts, as templates' tests return such objects by hand (O). */
function thenOf(value: Inner): ((resolve: Settle, reject: Settle) => void) | null {
  if (typeof value !== 'object' || value === null || !('then' in value)) return null
  const { then } = value
  if (typeof then !== 'function') return null
  // Functions of the sandbox have no `call` of their own.
  return (resolve, reject) => void Reflect.apply(then, value, [resolve, reject])
}
