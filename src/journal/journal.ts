import { Counter, Gauge, type Registry } from 'prom-client'
import { Jobs, type Leases, type Membership } from '../cluster/index.ts'
import { asError, type Clock, type Loop, SECOND } from '../lib/index.ts'
import { isPassing, type Store } from '../store/index.ts'
import { type ClientOfSite, Folder } from './fold.ts'
import { GroupCommit } from './group-commit.ts'
import { clearIdempotencyKeys } from './idempotency.ts'
import { JournalFolder } from './journal-folder.ts'
import type { LaneRow } from './lanes.ts'
import { foldOrphans } from './streams.ts'

/** A site's counts must be visible two seconds after the answer: folding every second leaves one for the fold itself. */
export const FOLD_INTERVAL_MS = SECOND
const WRITE_CHECK_INTERVAL_MS = SECOND
const CLEAR_KEYS_INTERVAL_MS = 600 * SECOND
/** The write check rewrites this one row. */
const CHECK_ROW = 1

interface JournalOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  clientOf: ClientOfSite
  onError: (error: Error, what: string) => void
  /** Writes succeed again after they had failed for `failedMs`. */
  onRecovery?: (failedMs: number) => void
}

/** One node's journal: its commits, the fold of what they wrote, and whether writes succeed. */
export class Journal {
  readonly commits: GroupCommit
  readonly folder: JournalFolder
  readonly loops: readonly Loop[]
  readonly #options: JournalOptions
  readonly #health: WriteHealth

  private constructor(options: JournalOptions, folder: Folder) {
    const { store, clock, leases, membership, onError, onRecovery } = options
    this.#options = options
    this.#health = new WriteHealth(store, clock, () => membership.trouble !== null, onRecovery)
    this.folder = new JournalFolder(store, folder, clock, membership.nodeId)
    const laneOf = (siteNo: number) => this.folder.laneOf(siteNo)
    const onSettled = (rows: readonly LaneRow[], error?: Error) => {
      this.folder.onSettled(rows, error)
      this.#noteCommit(error)
    }
    this.commits = new GroupCommit(store, clock, membership.nodeId, { laneOf, onSettled }, leases.expiry)
    this.loops = new Jobs({ clock, leases, onError })
      .onEveryNode('fold', FOLD_INTERVAL_MS, () => this.folder.foldDue())
      .onEveryNode('write-check', WRITE_CHECK_INTERVAL_MS, async () => {
        await this.#health.check()
        if (this.#health.trouble === null) this.commits.resume()
      })
      .deletingByAge('idempotency', CLEAR_KEYS_INTERVAL_MS, (now, shouldContinue) =>
        clearIdempotencyKeys(store, now, shouldContinue),
      ).loops
  }

  /** Folds what dead nodes left in the journal. Starts no loop. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { store, membership, clientOf, onError } = options
    const folder = new Folder(store, clientOf)
    await foldOrphans(store, [membership.nodeId], { takeAll: true }).catch((thrown: unknown) => {
      if (!isPassing(thrown)) throw thrown
      // The fold continues as soon as the database recovers; do not hold up the start for it.
      onError(asError(thrown), 'orphans')
    })
    return new Journal(options, folder)
  }

  /** Why the store accepts no writes, or null. */
  get trouble(): string | null {
    return this.#health.trouble
  }

  /** Age of the oldest count not yet in the rollups, ms. */
  get foldLagMs(): number {
    const oldest = this.folder.oldestUnfoldedAt
    return oldest === null ? 0 : Math.max(0, this.#options.clock.now() - oldest)
  }

  /** Commits and folds everything that was submitted. @throws StoreError */
  async drain(): Promise<void> {
    await this.commits.drain()
    await this.folder.fold()
  }

  /** Folds what this node's folds spilled and what dead nodes left. */
  async foldOthers(): Promise<void> {
    await foldOrphans(this.#options.store, await this.#options.membership.liveNodeIds())
  }

  #noteCommit(error: Error | undefined): void {
    if (error === undefined) {
      this.#health.succeeded()
      return
    }
    // Log once when it starts: repeated lines would fill a full disk further.
    if (this.#health.trouble === null) this.#options.onError(error, 'commit')
    this.#health.failed(error)
  }
}

/**
 * Tracks whether the store accepts writes. Commits report it. While they or this node's heartbeats fail, a small write tests it, so
 * that failure and recovery are noticed even when no requests arrive.
 */
class WriteHealth {
  readonly #store: Store
  readonly #clock: Clock
  readonly #isDoubted: () => boolean
  readonly #onRecovery: (failedMs: number) => void
  #trouble: string | null = null
  #failingSince = 0

  /** @param isDoubted whether another write has failed. Only a hint: that write may have waited for something that commits do not need */
  constructor(
    store: Store,
    clock: Clock,
    isDoubted: () => boolean,
    onRecovery: JournalOptions['onRecovery'] = () => undefined,
  ) {
    this.#store = store
    this.#clock = clock
    this.#isDoubted = isDoubted
    this.#onRecovery = onRecovery
  }

  /** The error of the last write if it failed, or null. */
  get trouble(): string | null {
    return this.#trouble
  }

  succeeded(): void {
    if (this.#trouble === null) return
    this.#trouble = null
    this.#onRecovery(this.#clock.now() - this.#failingSince)
  }

  failed(error: Error): void {
    if (this.#trouble === null) this.#failingSince = this.#clock.now()
    this.#trouble = error.message
  }

  /** Tries a write while writes fail or are doubted; costs nothing otherwise. */
  async check(): Promise<void> {
    if (this.#trouble === null && !this.#isDoubted()) return
    const now = this.#clock.now()
    const query = this.#store.write
      .insertInto('write_checks')
      .values({ id: CHECK_ROW, checked_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ checked_at: now }))
      .compile()
    try {
      await this.#store.batch([{ kind: 'statement', query }], { isUrgent: true })
      this.succeeded()
    } catch (thrown) {
      this.failed(asError(thrown))
    }
  }
}

export function journalMetrics(registry: Registry, journal: Journal): void {
  const registers = [registry]
  const { commits } = journal
  new Counter({
    name: 'tagwarden_commits_total',
    help: 'Group commits that reached the disk',
    registers,
    collect() {
      this.reset()
      this.inc(commits.totals.commits)
    },
  })
  new Counter({
    name: 'tagwarden_submissions_total',
    help: 'Checked payloads by the outcome of their commit',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      const { committed, duplicates, failed } = commits.totals
      this.labels({ outcome: 'committed' }).inc(committed)
      this.labels({ outcome: 'duplicate' }).inc(duplicates)
      this.labels({ outcome: 'failed' }).inc(failed)
    },
  })
  new Gauge({
    name: 'tagwarden_ingest_waiting',
    help: 'Payloads waiting for the next commit',
    registers,
    collect() {
      this.set(commits.waiting)
    },
  })
  new Gauge({
    name: 'tagwarden_fold_lag_seconds',
    help: 'Age of the oldest accepted count that is not in the rollups yet',
    registers,
    collect() {
      this.set(journal.foldLagMs / 1_000)
    },
  })
}
