import { asError } from '../lib/index.ts'
import { isPassing, StoreError } from '../store/index.ts'

/**
 * Does the work for each item. One that fails keeps none of the others from theirs.
 *
 * @param work false: there is to be no more of it
 * @throws the first failure when all are done; at once where the store as a whole is away, full or closed
 */
export async function attemptEach<T>(items: Iterable<T>, work: (item: T) => Promise<boolean>): Promise<void> {
  let failure: Error | undefined
  for (const item of items) {
    try {
      if (!(await work(item))) break
    } catch (thrown) {
      if (isAway(thrown)) throw thrown
      failure ??= asError(thrown)
    }
  }
  if (failure !== undefined) throw failure
}

/** Whether the same would happen to whatever is tried next. `busy` is of the rows that were asked for. */
const isAway = (thrown: unknown): boolean =>
  isPassing(thrown) && !(thrown instanceof StoreError && thrown.kind === 'busy')
