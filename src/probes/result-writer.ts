import { asError, type Clock } from '../lib/index.ts'
import { isPassing, type Store, type Tables, type Transaction } from '../store/index.ts'
import type { Finished } from './result.ts'
import { skipRun, writeResults } from './write-results.ts'

/**
 * What else is decided by results: runs in the transaction that writes them, so that a result and what follows from it are
 * there together or not at all. Statements only: while it runs, ingest cannot commit.
 */
export type ResultHook = (trx: Transaction<Tables>, written: readonly Finished[]) => Promise<void>

export interface ResultWriterOptions {
  store: Store
  clock: Clock
  nodeId: string
  onResults: ResultHook
  onError: (error: Error, what: string) => void
}

/** Results of one transaction: a few milliseconds of the writer's time. */
const RESULTS_PER_BATCH = 250

interface PendingResult {
  finished: Finished
  /** Called once: whether the result was written, or that it cannot be now. */
  settle: { resolve: (isWritten: boolean) => void; reject: (error: Error) => void }
}

/**
 * Gathers the results of runs and writes those that ended within a tick in one transaction. What the store does not take now
 * is kept for the next tick; its probes stay claimed until then, so that there are never more results than probes.
 */
export class ResultWriter {
  readonly #options: ResultWriterOptions
  #waiting: PendingResult[] = []

  constructor(options: ResultWriterOptions) {
    this.#options = options
  }

  /** Ids of the probes whose results wait. */
  get waiting(): string[] {
    return this.#waiting.map(({ finished }) => finished.probe.id)
  }

  /**
   * Resolves when the result is on disk: with false when it was not written, because the claim of its run was lost.
   *
   * @throws StoreError when the store does not take it now (it is tried again), or whatever it cannot be written for
   */
  add(finished: Finished): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ finished, settle: { resolve, reject } })
    })
  }

  /** Writes all that waits. Not to be called while it runs. @throws StoreError when the store takes no writes now */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, RESULTS_PER_BATCH)
      try {
        await this.#writeAll(batch)
      } catch (thrown) {
        const error = asError(thrown)
        for (const { settle } of batch) settle.reject(error)
        this.#waiting.unshift(...batch)
        throw error
      }
    }
  }

  /** One result that cannot be written must not hold up the others: then each is tried separately. */
  async #writeAll(batch: readonly PendingResult[]): Promise<void> {
    try {
      await this.#write(batch)
      return
    } catch (thrown) {
      if (isPassing(thrown)) throw thrown
    }
    for (const one of batch) {
      try {
        await this.#write([one])
      } catch (thrown) {
        if (isPassing(thrown)) throw thrown
        await this.#giveUp(one, asError(thrown))
      }
    }
  }

  async #write(batch: readonly PendingResult[]): Promise<void> {
    const { store, clock, nodeId, onResults } = this.#options
    const finished = batch.map((one) => one.finished)
    const written = await store.write.transaction().execute(async (trx) => {
      const rows = await writeResults(trx, nodeId, finished, clock.now())
      if (rows.length > 0) await onResults(trx, rows)
      return new Set(rows)
    })
    for (const one of batch) one.settle.resolve(written.has(one.finished))
  }

  /** The probe goes on with its next run, so that the failure is seen as long as it lasts. */
  async #giveUp({ finished, settle }: PendingResult, error: Error): Promise<void> {
    const { store, clock, nodeId, onError } = this.#options
    const { id, probe_type } = finished.probe
    onError(error, `writing a result of probe ${id} (${probe_type})`)
    settle.reject(error)
    await skipRun(store.write, nodeId, [finished.probe], clock.now())
  }
}
