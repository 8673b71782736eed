import { asError } from './errors.ts'

type Close = () => Promise<void> | void

/** Closes what was opened, last in, first out. A closer that fails does not keep the others from running. */
export class Closers {
  readonly #closers: Close[] = []

  add(close: Close): void {
    this.#closers.push(close)
  }

  /** @throws the first error a closer threw, after all have run. */
  async closeAll(): Promise<void> {
    const errors: unknown[] = []
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close()
      } catch (thrown) {
        errors.push(thrown)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}

/**
 * Does the work for each item, one after the other. A failure of one does not stop the others.
 *
 * @param mayGoOn asked before each
 * @param failed the beginning of the message: what could not be done, of so many items
 * @throws AggregateError of the failures, after all others are done
 */
export async function attemptAll<T>(
  items: Iterable<T>,
  mayGoOn: () => boolean,
  work: (item: T) => Promise<void>,
  failed: (count: number) => string,
): Promise<void> {
  const failures: Error[] = []
  for (const item of items) {
    if (!mayGoOn()) break
    try {
      await work(item)
    } catch (thrown) {
      failures.push(asError(thrown))
    }
  }
  const [first] = failures
  if (first !== undefined) throw new AggregateError(failures, `${failed(failures.length)}: ${first.message}`)
}
