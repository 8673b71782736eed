import type { Clock } from '../lib/index.ts'
import { Delta, type Folder, type FoldTask, readFoldTask } from '../rollups/index.ts'
import { type Store, StoreError } from '../store/index.ts'

/**
 * Folds what this process has committed: from memory as long as every commit's outcome is known, from the journal after
 * one that failed. A failed commit may have reached the disk all the same; then its row is there and is counted.
 */
export class JournalFolder {
  readonly #store: Store
  readonly #folder: Folder
  readonly #clock: Clock
  readonly #nodeId: string
  #gathered = new Delta()
  #gatheredRows = 0
  #lastSeq = 0
  /** The fold under way; kept after a failure, to go on where it stopped. */
  #task: FoldTask | undefined
  #mustReadJournal = false
  #oldestAt: number | null = null

  constructor(store: Store, folder: Folder, clock: Clock, nodeId: string) {
    this.#store = store
    this.#folder = folder
    this.#clock = clock
    this.#nodeId = nodeId
  }

  /** When the oldest count that is not in the rollups was committed, or null. */
  get oldestUnfoldedAt(): number | null {
    return this.#oldestAt
  }

  onCommitted(seq: number, delta: Delta): void {
    this.#gathered.absorb(delta)
    this.#gatheredRows++
    this.#lastSeq = seq
    this.#oldestAt ??= this.#clock.now()
  }

  onFailed(seq: number): void {
    this.#mustReadJournal = true
    this.#lastSeq = seq
  }

  /** Folds all that was committed before the call. @throws StoreError; the next call goes on. */
  async fold(): Promise<void> {
    const began = this.#clock.now()
    if (this.#task !== undefined) await this.#run(this.#task)
    if (this.#mustReadJournal) await this.#foldJournal()
    else if (this.#gatheredRows > 0) await this.#run(this.#takeGathered())
    this.#oldestAt = this.#gatheredRows > 0 ? began : null
  }

  #takeGathered(): FoldTask {
    const task: FoldTask = {
      nodeId: this.#nodeId,
      lastSeq: this.#lastSeq,
      journalRows: this.#gatheredRows,
      delta: this.#gathered,
      siteCursor: 0,
    }
    this.#gathered = new Delta()
    this.#gatheredRows = 0
    return task
  }

  async #foldJournal(): Promise<void> {
    // From here on memory gathers anew; everything up to `lastSeq` is settled, one way or the other, and is read back.
    const lastSeq = this.#lastSeq
    this.#mustReadJournal = false
    this.#takeGathered()
    try {
      for (;;) {
        const task = await readFoldTask(this.#store, this.#nodeId, lastSeq)
        if (task === undefined) return
        await this.#run(task)
      }
    } catch (thrown) {
      this.#mustReadJournal = true
      throw thrown
    }
  }

  async #run(task: FoldTask): Promise<void> {
    this.#task = task
    try {
      await this.#folder.fold(task)
      this.#task = undefined
    } catch (thrown) {
      if (thrown instanceof StoreError && thrown.kind === 'unexpected_changes') {
        this.#task = undefined
        this.#mustReadJournal = true
      }
      throw thrown
    }
  }
}
