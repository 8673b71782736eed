import { Counter, Gauge, type Registry } from 'prom-client'
import { type Expiry, type Leases, liveNodes, type Membership } from '../cluster/index.ts'
import { FOLD_INTERVAL_MS, type GroupCommit, Journal, type JournalFolder, journalMetrics } from '../journal/index.ts'
import { asError, type Clock, Loop, MINUTE, SECOND } from '../lib/index.ts'
import { writeKeyUses } from '../management/index.ts'
import { isPassing, type Store } from '../store/index.ts'
import { CanaryBook } from './canaries.ts'
import { Demand, ROUND_INTERVAL_MS } from './demand.ts'
import { IngestEndpoint } from './endpoint.ts'
import { KeyIndex } from './key-index.ts'
import { LargeBodies } from './large-bodies.ts'
import { SampleRecorder } from './samples.ts'
import { Shedding } from './shedding.ts'
import { USAGE_SYNC_INTERVAL_MS, UsageSync } from './usage-sync.ts'

/** How often to write which keys were used. */
const KEY_USES_INTERVAL_MS = MINUTE
/** How often to read again what could not be read after a change of a key, site or client. */
const KEYS_INTERVAL_MS = SECOND

/** How often the event loop reports that it paused: far more often than `Shedding`'s limit on its work without a pause. */
const PAUSE_INTERVAL_MS = 20

const KEYS_DOUBT = 'changes of sites and keys cannot be read: known keys work, unknown ones are answered 503'

export interface IngestOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  expiry: Expiry
  keyHeaders: readonly string[]
  onError: (error: Error, what: string) => void
  /** Writes succeed again after they had failed for `failedMs`. */
  onRecovery?: (failedMs: number) => void
}

export interface IngestStatus {
  sites: number
  answers: IngestEndpoint['answers']
  commits: GroupCommit['totals']
  waiting: number
  /** Bytes of unanswered requests. */
  bytesUnderWay: number
  /** Age of the oldest count not yet in the rollups, ms. */
  foldLagMs: number
}

/** The ingest service: open it, let its endpoint answer requests, and stop it when no more requests can come. */
export class Ingest {
  readonly #onError: IngestOptions['onError']
  readonly #store: Store
  readonly #keys: KeyIndex
  readonly endpoint: IngestEndpoint
  readonly #largeBodies: LargeBodies
  readonly #journal: Journal
  readonly #samples: SampleRecorder
  readonly #canaries: CanaryBook
  readonly #demand: Demand
  readonly #loops: Loop[]
  readonly #shedding = new Shedding(performance.now())
  readonly #pauses: NodeJS.Timeout

  private constructor(options: IngestOptions, keys: KeyIndex, journal: Journal) {
    const { store, clock, onError } = options
    const { nodeId } = options.membership
    this.#onError = onError
    this.#store = store
    this.#keys = keys
    this.#journal = journal
    this.#samples = new SampleRecorder(store)
    this.#canaries = new CanaryBook(store)
    this.#largeBodies = new LargeBodies(onError)
    this.endpoint = new IngestEndpoint({
      clock,
      keys,
      commits: journal.commits,
      samples: this.#samples,
      canaries: this.#canaries,
      shedding: this.#shedding,
      largeBodies: this.#largeBodies,
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
    const usage = new UsageSync({ store, clock, folder: journal.folder, meters: keys.meters })
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock, intervalMs, tick, onError })
    // The loop's name is public in `tagwarden_loop_lag_seconds`: alert rules may use it.
    this.#loops = [...journal.loops, loop('evidence', FOLD_INTERVAL_MS, () => this.#flushEvidence())]
    // While writes fail these loops would fail as well, and one report of that is enough.
    const whileWell = (tick: () => Promise<void>) => async () => {
      if (journal.trouble === null) await tick()
    }
    const quotas = whileWell(() => usage.tick())
    this.#loops.push(loop('quotas', USAGE_SYNC_INTERVAL_MS, quotas))
    const missed = whileWell(() => keys.readMissed())
    this.#loops.push(loop('keys', KEYS_INTERVAL_MS, missed))
    this.#loops.push(
      loop(
        'key-uses',
        KEY_USES_INTERVAL_MS,
        whileWell(() => this.#writeKeyUses()),
      ),
    )
    if (store.isShared) {
      const rates = whileWell(() => this.#demand.tick())
      this.#loops.push(loop('rates', ROUND_INTERVAL_MS, rates))
    }
  }

  /** Reads the keys, opens the journal, and starts the loops. */
  static async open(options: IngestOptions): Promise<Ingest> {
    const { store, clock } = options
    const keys = new KeyIndex(store, clock, options.expiry)
    await keys.load()
    // Before the quotas are read: they would miss rows that no other node folds.
    const journal = await Journal.open({ ...options, clientOf: (siteNo) => keys.clientOf(siteNo) })
    await keys.loadUsage()
    const ingest = new Ingest(options, keys, journal)
    // Before the first request: this node must not grant rate that other nodes already use.
    if (store.isShared) await ingest.#demand.tick()
    for (const loop of ingest.#loops) loop.start()
    return ingest
  }

  /** Makes everything answered so far visible in reports. Tests and the demo wait for it instead of sleeping. */
  async flush(): Promise<void> {
    await this.#foldLast()
    await this.#journal.foldOthers()
  }

  async #foldLast(): Promise<void> {
    await this.#journal.drain()
    await this.#flushEvidence()
    await this.#writeKeyUses()
  }

  /** A failure loses a minute of uses; the next request with the key makes up for it. */
  async #writeKeyUses(): Promise<void> {
    await writeKeyUses(this.#store, this.#keys.takeUses())
  }

  /** Canaries first: probes wait for them. */
  async #flushEvidence(): Promise<void> {
    await this.#canaries.flush()
    await this.#samples.flush()
  }

  /** Why the store accepts no writes, or null. */
  get trouble(): string | null {
    return this.#journal.trouble
  }

  /** Why unknown keys are answered 503, or null. */
  get keysDoubt(): string | null {
    return this.#keys.isCurrent ? null : KEYS_DOUBT
  }

  get loops(): readonly Loop[] {
    return this.#loops
  }

  /** Folds what this node has accepted. */
  get folder(): JournalFolder {
    return this.#journal.folder
  }

  registerMetrics(registry: Registry): void {
    ingestMetrics(registry, this.endpoint)
    journalMetrics(registry, this.#journal)
  }

  status(): IngestStatus {
    return {
      sites: this.#keys.siteCount,
      answers: this.endpoint.answers,
      commits: this.#journal.commits.totals,
      waiting: this.#journal.commits.waiting,
      bytesUnderWay: this.endpoint.bytesUnderWay,
      foldLagMs: this.#journal.foldLagMs,
    }
  }

  /**
   * Commits and folds what is left. Call it when no more requests can arrive. While the database is unavailable, rows stay in the
   * journal, where the next node to start finds them.
   */
  async stop(): Promise<void> {
    clearInterval(this.#pauses)
    await this.#largeBodies.close()
    await this.#journal.commits.drain()
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    this.#keys.close()
    await this.#foldLast().catch((thrown: unknown) => {
      if (!isPassing(thrown)) throw thrown
      this.#onError(asError(thrown), 'last fold')
    })
  }
}

/** The number of nodes that take requests now, including this one. */
async function countIngestNodes(store: Store, clock: Clock): Promise<number> {
  const { count } = await liveNodes(store.read, clock.now())
    .where('role', 'in', ['ingest', 'all'])
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function ingestMetrics(registry: Registry, endpoint: Pick<IngestEndpoint, 'answers' | 'bytesUnderWay'>): void {
  const registers = [registry]
  new Counter({
    name: 'tagwarden_ingest_requests_total',
    help: 'Ingest requests by their answer',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset()
      for (const [result, count] of Object.entries(endpoint.answers)) this.labels({ result }).inc(count)
    },
  })
  new Gauge({
    name: 'tagwarden_ingest_bytes',
    help: 'Bytes of ingest requests in progress, from the first byte of a body to the answer',
    registers,
    collect() {
      this.set(endpoint.bytesUnderWay)
    },
  })
}
