import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, Loop, newId, SECOND } from '../lib/index.ts'
import { Folder, foldOrphans } from '../rollups/index.ts'
import type { Store } from '../store/index.ts'
import { IngestDoor } from './door.ts'
import { Evidence } from './evidence.ts'
import { GroupCommit } from './group-commit.ts'
import { clearIdempotencyKeys } from './idempotency.ts'
import { JournalFolder } from './journal-folder.ts'
import { KeyIndex } from './key-index.ts'
import { WriteHealth } from './write-health.ts'

/** A site's counts are to be visible two seconds after the answer: folding every second leaves one for the fold. */
const FOLD_INTERVAL_MS = SECOND
const WRITE_CHECK_INTERVAL_MS = SECOND
const CLEAR_KEYS_INTERVAL_MS = 600 * SECOND

export interface IngestOptions {
  store: Store
  clock: Clock
  keyHeaders: readonly string[]
  onError: (error: Error, what: string) => void
}

export interface IngestStatus {
  nodeId: string
  sites: number
  answers: IngestDoor['answers']
  commits: GroupCommit['totals']
  waiting: number
  /** Age of the oldest count that is not visible in reports yet, ms. */
  foldLagMs: number
}

/** The ingest service: open it, let `handle` answer requests, stop it when no request can come any more. */
export class Ingest {
  readonly #clock: Clock
  readonly #nodeId: string
  readonly #keys: KeyIndex
  readonly #door: IngestDoor
  readonly #commits: GroupCommit
  readonly #folder: JournalFolder
  readonly #evidence: Evidence
  readonly #health: WriteHealth
  readonly #loops: readonly Loop[]

  private constructor(options: IngestOptions, nodeId: string, keys: KeyIndex, folder: Folder) {
    const { store, clock, onError } = options
    this.#clock = clock
    this.#nodeId = nodeId
    this.#keys = keys
    this.#health = new WriteHealth(store, clock)
    this.#folder = new JournalFolder(store, folder, clock, nodeId)
    this.#evidence = new Evidence(store)
    this.#commits = new GroupCommit(store, clock, nodeId, {
      onSettled: (seq, error) => {
        this.#folder.onSettled(seq)
        if (error === undefined) {
          this.#health.succeeded()
          return
        }
        // One line when it starts: a full disk must not be filled up by the log of its own errors.
        if (this.#health.trouble === null) onError(error, 'commit')
        this.#health.failed(error)
      },
    })
    this.#door = new IngestDoor({
      clock,
      keys,
      commits: this.#commits,
      evidence: this.#evidence,
      keyHeaders: options.keyHeaders,
    })
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock, intervalMs, tick, onError })
    this.#loops = [
      loop('fold', FOLD_INTERVAL_MS, () => this.#folder.fold()),
      loop('evidence', FOLD_INTERVAL_MS, () => this.#evidence.flush()),
      loop('write-check', WRITE_CHECK_INTERVAL_MS, () => this.#health.check()),
      loop('idempotency', CLEAR_KEYS_INTERVAL_MS, () => clearIdempotencyKeys(store, clock.now())),
    ]
  }

  /** Reads the keys, folds what an earlier process left in the journal, and starts the loops. */
  static async open(options: IngestOptions): Promise<Ingest> {
    const { store, clock } = options
    const keys = new KeyIndex(store, clock)
    await keys.load()
    const folder = new Folder(store, (siteNo) => keys.clientOf(siteNo))
    const nodeId = newId()
    await foldOrphans(store, folder, [nodeId])
    await keys.loadUsage()
    const ingest = new Ingest(options, nodeId, keys, folder)
    for (const loop of ingest.#loops) loop.start()
    return ingest
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#door.handle(request, response)
  }

  /** Makes everything that has been answered visible in reports; tests and the demo wait for it instead of sleeping. */
  async flush(): Promise<void> {
    await this.#commits.drain()
    await this.#folder.fold()
    await this.#evidence.flush()
  }

  /** Why the store does not take writes now, or null. */
  get trouble(): string | null {
    return this.#health.trouble
  }

  get loops(): readonly Loop[] {
    return this.#loops
  }

  status(): IngestStatus {
    const oldest = this.#folder.oldestUnfoldedAt
    return {
      nodeId: this.#nodeId,
      sites: this.#keys.siteCount,
      answers: this.#door.answers,
      commits: this.#commits.totals,
      waiting: this.#commits.waiting,
      foldLagMs: oldest === null ? 0 : Math.max(0, this.#clock.now() - oldest),
    }
  }

  /** To be called when no request can arrive any more: commits and folds what is left. */
  async stop(): Promise<void> {
    await this.#commits.drain()
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    this.#keys.close()
    await this.flush()
  }
}
