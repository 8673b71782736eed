import { asError } from '../lib/index.ts'
import { isPassing, StoreError } from './store.ts'

/**
 * Does the work for each item. A failure of one does not stop the others.
 *
 * @param work false: stop
 * @throws the first failure when all are done; at once where the store as a whole is unavailable, full or closed
 */
export async function attemptEach<T>(items: Iterable<T>, work: (item: T) => Promise<boolean>): Promise<void> {
  let failure: Error | undefined
  for (const item of items) {
    try {
      if (!(await work(item))) break
    } catch (thrown) {
      if (isUnavailable(thrown)) throw thrown
      failure ??= asError(thrown)
    }
  }
  if (failure !== undefined) throw failure
}

/** Whether the next item would fail in the same way. `busy` concerns only the rows of this one. */
const isUnavailable = (thrown: unknown): boolean =>
  isPassing(thrown) && !(thrown instanceof StoreError && thrown.kind === 'busy')

/** Repeats a step while it returns that there is more; false when `mayGoOn` ended it early. */
export async function untilDone(step: () => Promise<boolean>, mayGoOn: () => boolean): Promise<boolean> {
  for (let more = true; more; more = await step()) if (!mayGoOn()) return false
  return true
}
