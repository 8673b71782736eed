import type { IncomingMessage, ServerResponse } from 'node:http'
import { expiring, type Leases, liveNodes, type Membership } from '../cluster/index.ts'
import { asError, type Clock, Loop, SECOND } from '../lib/index.ts'
import { Folder, foldOrphans } from '../rollups/index.ts'
import { isPassing, type Store } from '../store/index.ts'
import { Demand, ROUND_INTERVAL_MS } from './demand.ts'
import { IngestEndpoint } from './endpoint.ts'
import { type CommitListener, GroupCommit } from './group-commit.ts'
import { clearIdempotencyKeys } from './idempotency.ts'
import { JournalFolder } from './journal-folder.ts'
import { KeyIndex } from './key-index.ts'
import { SampleRecorder } from './samples.ts'
import { Shedding } from './shedding.ts'
import { USAGE_SYNC_INTERVAL_MS, UsageSync } from './usage-sync.ts'
import { WriteHealth } from './write-health.ts'

/** A site's counts must be visible two seconds after the answer: folding every second leaves one for the fold. */
const FOLD_INTERVAL_MS = SECOND
/** How often to notice a pause of the event loop: far more often than the bound on its work without one. */
const PAUSE_INTERVAL_MS = 20
const WRITE_CHECK_INTERVAL_MS = SECOND
const CLEAR_KEYS_INTERVAL_MS = 600 * SECOND

export interface IngestOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  keyHeaders: readonly string[]
  onError: (error: Error, what: string) => void
}

export interface IngestStatus {
  sites: number
  answers: IngestEndpoint['answers']
  commits: GroupCommit['totals']
  waiting: number
  /** Of requests that have begun and are not answered. */
  bytesUnderWay: number
  /** Age of the oldest count that reports do not show yet, ms. */
  foldLagMs: number
}

/** The ingest service: open it, let `handle` answer requests, stop it when no request can come any more. */
export class Ingest {
  readonly #clock: Clock
  readonly #onError: IngestOptions['onError']
  readonly #foldAside: () => Promise<unknown>
  readonly #keys: KeyIndex
  readonly #endpoint: IngestEndpoint
  readonly #commits: GroupCommit
  readonly #folder: JournalFolder
  readonly #samples: SampleRecorder
  readonly #health: WriteHealth
  readonly #demand: Demand
  readonly #loops: Loop[]
  readonly #shedding = new Shedding(performance.now())
  readonly #pauses: NodeJS.Timeout

  private constructor(options: IngestOptions, keys: KeyIndex, folder: Folder) {
    const { store, clock, leases, onError } = options
    const { nodeId } = options.membership
    this.#clock = clock
    this.#onError = onError
    this.#foldAside = async () => foldOrphans(store, await options.membership.liveNodeIds())
    this.#keys = keys
    this.#health = new WriteHealth(store, clock)
    this.#folder = new JournalFolder(store, folder, clock, nodeId)
    this.#samples = new SampleRecorder(store)
    const listener: CommitListener = {
      onSettled: (seq, error) => {
        this.#folder.onSettled(seq, error)
        if (error === undefined) {
          this.#health.succeeded()
          return
        }
        // Log once when it starts: the log of a full disk must not fill it further.
        if (this.#health.trouble === null) onError(error, 'commit')
        this.#health.failed(error)
      },
    }
    this.#commits = new GroupCommit(store, clock, nodeId, listener, leases.expiry)
    this.#endpoint = new IngestEndpoint({
      clock,
      keys,
      commits: this.#commits,
      samples: this.#samples,
      shedding: this.#shedding,
      keyHeaders: options.keyHeaders,
    })
    this.#demand = new Demand({
      store,
      clock,
      nodeId,
      meters: keys.meters,
      nodes: () => countIngestNodes(store, clock),
    })
    this.#pauses = setInterval(() => this.#shedding.pause(performance.now()), PAUSE_INTERVAL_MS).unref()
    const usage = new UsageSync({ store, clock, folder: this.#folder, meters: keys.meters })
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock, intervalMs, tick, onError })
    this.#loops = [
      loop('fold', FOLD_INTERVAL_MS, () => this.#folder.fold()),
      // The published name of the loop in `tagwarden_loop_lag_seconds`: alert rules may use it.
      loop('evidence', FOLD_INTERVAL_MS, () => this.#samples.flush()),
      loop('write-check', WRITE_CHECK_INTERVAL_MS, async () => {
        await this.#health.check()
        if (this.#health.trouble === null) this.#commits.resume()
      }),
      loop(
        'idempotency',
        CLEAR_KEYS_INTERVAL_MS,
        expiring(leases, 'idempotency', (now, mayGoOn) => clearIdempotencyKeys(store, now, mayGoOn)),
      ),
    ]
    // While writes fail these loops would fail as well, and one report of that is enough.
    const whileWell = (tick: () => Promise<void>) => async () => {
      if (this.#health.trouble === null) await tick()
    }
    const quotas = whileWell(() => usage.tick())
    this.#loops.push(loop('quotas', USAGE_SYNC_INTERVAL_MS, quotas))
    if (store.isShared) {
      const rates = whileWell(() => this.#demand.tick())
      this.#loops.push(loop('rates', ROUND_INTERVAL_MS, rates))
    }
  }

  /** Reads the keys, folds what dead nodes left in the journal, and starts the loops. */
  static async open(options: IngestOptions): Promise<Ingest> {
    const { store, clock, membership } = options
    const keys = new KeyIndex(store, clock)
    await keys.load()
    const folder = new Folder(store, (siteNo) => keys.clientOf(siteNo))
    // Before the quotas are read: rows that no other node will fold would be missing from them.
    await foldOrphans(store, [membership.nodeId], { takeAll: true }).catch((thrown: unknown) => {
      if (!isPassing(thrown)) throw thrown
      // The fold continues as soon as the database has recovered; the start must not wait for that.
      options.onError(asError(thrown), 'orphans')
    })
    await keys.loadUsage()
    const ingest = new Ingest(options, keys, folder)
    // Before the first request: rate that other nodes already use is not this node's to grant.
    if (store.isShared) await ingest.#demand.tick()
    for (const loop of ingest.#loops) loop.start()
    return ingest
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#endpoint.handle(request, response)
  }

  /** Makes everything answered so far visible in reports; tests and the demo wait for it instead of sleeping. */
  async flush(): Promise<void> {
    await this.#foldLast()
    await this.#foldAside()
  }

  async #foldLast(): Promise<void> {
    await this.#commits.drain()
    await this.#folder.fold()
    await this.#samples.flush()
  }

  /** Why the store does not take writes, or null. */
  get trouble(): string | null {
    return this.#health.trouble
  }

  get loops(): readonly Loop[] {
    return this.#loops
  }

  status(): IngestStatus {
    const oldest = this.#folder.oldestUnfoldedAt
    return {
      sites: this.#keys.siteCount,
      answers: this.#endpoint.answers,
      commits: this.#commits.totals,
      waiting: this.#commits.waiting,
      bytesUnderWay: this.#endpoint.bytesUnderWay,
      foldLagMs: oldest === null ? 0 : Math.max(0, this.#clock.now() - oldest),
    }
  }

  /**
   * Commits and folds what is left; call it when no more requests can arrive. While the database is unavailable that stays in
   * the journal, where the next node to start finds it.
   */
  async stop(): Promise<void> {
    clearInterval(this.#pauses)
    await this.#commits.drain()
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    this.#keys.close()
    await this.#foldLast().catch((thrown: unknown) => {
      if (!isPassing(thrown)) throw thrown
      this.#onError(asError(thrown), 'last fold')
    })
  }
}

/** How many nodes take requests now; this one is among them. */
async function countIngestNodes(store: Store, clock: Clock): Promise<number> {
  const { count } = await liveNodes(store.read, clock.now())
    .where('role', 'in', ['ingest', 'all'])
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
