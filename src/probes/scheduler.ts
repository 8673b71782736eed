import type { Membership } from '../cluster/index.ts'
import { Allowance } from '../http/index.ts'
import { AppError, asError, Loop, SECOND } from '../lib/index.ts'
import { isPassing, type ProbeRow } from '../store/index.ts'
import {
  activeSites,
  bringForward,
  CLAIM_AHEAD_MS,
  CLAIM_INTERVAL_MS,
  claimByHand,
  claimDue,
  claimsOf,
  clientOf,
  dueAtOf,
  releaseClaims,
  siteOf,
} from './claims.ts'
import type { ProbeType, ResultStatus } from './probe-type.ts'
import type { Registry } from './registry.ts'
import { type Finished, finishedOf } from './result.ts'
import { type RunTools, runProbe } from './run-probe.ts'
import { Holdings, RunSlots } from './run-slots.ts'
import { type ResultHook, ResultWriter, skipRun } from './write-results.ts'

export interface SchedulerOptions {
  tools: RunTools
  registry: Registry
  membership: Membership
  /** Records for how long no events were received, if that is not recorded yet. */
  noteOutage: () => Promise<void>
  onResults: ResultHook
  onError: (error: Error, what: string) => void
}

/** Observes the scheduler, for metrics. */
export interface SchedulerWatch {
  /** A run that was due `lagMs` ago begins. */
  onStart?: (lagMs: number) => void
  /** A result was written; `unjudged` is an ok that found nothing to judge. */
  onResult?: (probeType: string, outcome: ResultStatus | 'unjudged') => void
}

/** Runs due within this time start together, at its end: waking the threads for each run alone costs twice as much. */
const START_INTERVAL_MS = 100
/** Results that finish within this time share a transaction. */
const WRITE_INTERVAL_MS = 100
/** Probes claimed by one statement. Small, so that a client with many due probes reaches its limit before it has taken all places. */
const CLAIM_STEP = 64
/** After a gap this long (the machine slept, the clock was set) the outage is recorded first; `data` probes would take it for silence. */
const PAUSE_MS = 5 * SECOND
const PUT_RIGHT_INTERVAL_MS = 30 * SECOND
/** Runs by hand at the same time; they do not wait for slots. */
const BY_HAND_MAX = 32
/** Of one client: otherwise its hanging targets could take up all of them. */
const BY_HAND_OF_CLIENT_MAX = 8
/** Of one probe: each run sends requests to a host that may belong to someone else. */
const BY_HAND_PER_MINUTE = 6
/** Time that active runs have to finish on shutdown, ms. Requests have had 7 s before; the whole shutdown has 9.5 s. */
const STOP_GRACE_MS = SECOND

/**
 * Runs this node's share of the probes. Each round claims the probes that are due before the next round and starts each at
 * its time. A claim is held until the result is written, so no probe runs twice at a time. A dead node needs no cleanup: a
 * claim counts only while its node lives, and the claim itself has already moved the probe on, by a minute at most.
 */
export class Scheduler {
  readonly loops: readonly Loop[]
  readonly #options: SchedulerOptions
  readonly #writer: ResultWriter
  readonly #claiming: Loop
  readonly #writing: Loop
  readonly #slots: Readonly<Record<ProbeType['kind'], RunSlots>> = {
    // These runs mostly wait for others, so this is how many may hang at once.
    wire: new RunSlots(256, 64),
    // These runs query the database: more at once would only wait for each other and delay reports.
    data: new RunSlots(4, 252),
  }
  #roundAt = 0
  /** Active runs by probe id; undefined for those that end without a result. */
  readonly #active = new Map<string, Promise<Finished | undefined>>()
  readonly #watches: SchedulerWatch[] = []
  readonly #stopping = new AbortController()
  readonly #handLimit: Allowance
  /** Active runs by hand, by client. */
  readonly #hands = new Holdings()
  #byHand = 0
  #putRightAt = Number.NEGATIVE_INFINITY

  constructor(options: SchedulerOptions) {
    const { tools, membership, onResults, onError } = options
    const { store, clock } = tools
    this.#options = options
    this.#handLimit = new Allowance(BY_HAND_PER_MINUTE, 'runs of a probe by hand', clock)
    this.#writer = new ResultWriter({ store, clock, nodeId: membership.nodeId, onResults, onError })
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock, intervalMs, tick, onError })
    this.#claiming = loop('probes', CLAIM_INTERVAL_MS, () => this.#round())
    this.#writing = loop('probe-results', WRITE_INTERVAL_MS, () => this.#writer.flush())
    this.loops = [this.#claiming, this.#writing]
  }

  watch(watch: SchedulerWatch): void {
    this.#watches.push(watch)
  }

  /** Number of active runs, including those that wait for a slot or for their result to be written. */
  get active(): number {
    return this.#active.size
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** Runs one round of claiming, for tests; the runs that it starts continue. */
  async claim(): Promise<void> {
    await this.#claiming.tick()
  }

  /** Writes the finished results, for tests. */
  async write(): Promise<void> {
    await this.#writing.tick()
  }

  /**
   * Runs a probe now, or joins its active run on this node. Resolves to undefined when the probe does not exist.
   *
   * @throws AppError `conflict` when another node is running it, or too many runs by hand are active; `rate_limited` when this one ran too often
   * @throws StoreError
   */
  async runNow(id: string): Promise<Finished | undefined> {
    const active = this.#active.get(id)
    if (active !== undefined) return active
    if (this.#byHand >= BY_HAND_MAX) {
      throw new AppError('conflict', `${BY_HAND_MAX} probes are already being run by hand: try again in a moment`)
    }
    this.#handLimit.take(id)
    this.#byHand++
    return this.#keep(id, this.#runByHand(id)).finally(() => {
      this.#byHand--
    })
  }

  /** Gives active runs a moment to finish, cancels the rest, and releases this node's claims. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    const { tools, membership, onError } = this.#options
    await this.#claiming.stop()
    for (const slots of Object.values(this.#slots)) slots.dropQueue()
    // Runs end only when their results are written.
    this.#writing.start()
    const timer = setTimeout(() => this.#stopping.abort(), graceMs)
    await Promise.allSettled(this.#active.values())
    clearTimeout(timer)
    await this.#writing.stop()
    try {
      await this.#writer.flush()
      const { nodeId } = membership
      await releaseClaims(tools.store, nodeId, await claimsOf(tools.store, nodeId))
    } catch (thrown) {
      onError(asError(thrown), 'stopping the probes')
    }
  }

  async #round(): Promise<void> {
    const { tools, registry, membership, noteOutage } = this.#options
    const { store, clock } = tools
    // A node that looks dead may lose its claims to another, so the heartbeat must be current before this one claims.
    if (!membership.isSurelyAlive()) await membership.beat()
    if (!membership.isSurelyAlive()) throw new Error("this node's heartbeat does not get through")
    if (Math.abs(clock.now() - this.#roundAt) > PAUSE_MS) await noteOutage()
    this.#roundAt = clock.now()
    await this.#putRight()
    for (const [kind, slots] of Object.entries(this.#slots)) {
      const types = [...registry.values()].filter((type) => type.kind === kind).map((type) => type.name)
      const now = clock.now()
      const claimant = { store, nodeId: membership.nodeId, now }
      const until = now + CLAIM_AHEAD_MS
      for (let isMore = true; isMore; ) {
        const limit = Math.min(CLAIM_STEP, slots.room)
        const claimed = await claimDue(claimant, types, until, limit, slots.ownersAtLimit)
        await this.#take(claimed, until, slots)
        isMore = claimed.length === CLAIM_STEP
      }
    }
  }

  /** @param until when the last of them is due, epoch ms */
  async #take(claimed: readonly ProbeRow[], until: number, slots: RunSlots): Promise<void> {
    const { tools, membership, onError } = this.#options
    if (claimed.length === 0) return
    const sites = await activeSites(tools.store, claimed)
    const resting = claimed.filter((probe) => !sites.has(probe.site_id))
    const running = claimed.filter((probe) => this.#active.has(probe.id))
    for (const probe of claimed) {
      const site = sites.get(probe.site_id)
      if (site === undefined || this.#active.has(probe.id)) continue
      if (probe.lost_runs > 0) onError(lostRuns(probe), `probe ${probe.id} (${probe.probe_type})`)
      const type = this.#typeOf(probe)
      const run = slots.run(
        site.client_id,
        async () => {
          const lagMs = tools.clock.now() - dueAtOf(probe)
          for (const { onStart } of this.#watches) onStart?.(lagMs)
          return runProbe(tools, type, probe, site, this.#stopping.signal)
        },
        waitMs(dueAtOf(probe), tools.clock.now()),
      )
      const written = run.then((ended) => ended && this.#write(finishedOf(probe, site, ended, type)))
      this.#keep(probe.id, written).catch((thrown: unknown) => {
        // Passing failures of the store: the writing loop keeps the result and reports them.
        if (!isPassing(thrown)) onError(asError(thrown), `probe ${probe.id} (${probe.probe_type})`)
      })
    }
    // Someone ran them by hand a moment ago, or another node took the claim and has finished: the run that is active here counts.
    await releaseClaims(
      tools.store,
      membership.nodeId,
      running.map(({ id }) => id),
    )
    if (resting.length > 0) {
      await skipRun(tools.store.write, membership.nodeId, resting, until, true)
    }
  }

  async #runByHand(id: string): Promise<Finished | undefined> {
    const { store } = this.#options.tools
    const owner = await clientOf(store, id)
    if (owner === undefined) return undefined
    const hands = this.#hands.of(owner)
    if (hands >= BY_HAND_OF_CLIENT_MAX) {
      throw new AppError(
        'conflict',
        `${hands} probes of the client are already being run by hand: try again in a moment`,
      )
    }
    return this.#hands.during(owner, () => this.#claimAndRun(id))
  }

  async #claimAndRun(id: string): Promise<Finished | undefined> {
    const { tools, membership } = this.#options
    const { store, clock } = tools
    const claimant = { store, nodeId: membership.nodeId, now: clock.now() }
    const probe = await claimByHand(claimant, id, () => this.#claiming.tick())
    if (probe === undefined) return undefined
    const site = await siteOf(store, probe)
    if (site === undefined) return undefined
    const type = this.#typeOf(probe)
    const run = await runProbe(tools, type, probe, site, this.#stopping.signal)
    if (run === undefined) throw new AppError('unavailable', 'the service stops')
    const [written] = await Promise.all([this.#write(finishedOf(probe, site, run, type)), this.#writing.tick()])
    return written
  }

  /** @returns the result once it is on disk; undefined when the claim was lost */
  async #write(finished: Finished): Promise<Finished | undefined> {
    if (!(await this.#writer.add(finished))) return undefined
    const { probe, status, result } = finished
    for (const { onResult } of this.#watches) onResult?.(probe.probe_type, result.reason === null ? status : 'unjudged')
    return finished
  }

  #typeOf({ probe_type }: ProbeRow): ProbeType | undefined {
    return this.#options.registry.get(probe_type)
  }

  /** Lists the run as active until it has ended. */
  #keep(id: string, run: Promise<Finished | undefined>): Promise<Finished | undefined> {
    const kept = run.finally(() => this.#active.delete(id))
    this.#active.set(id, kept)
    return kept
  }

  /**
   * Releases claims that the store lists for this node although it runs none of them: the answer to the claim got lost, or
   * releasing it failed. No other node would take them while this one lives. Also brings forward probes that a clock running
   * ahead had put off.
   */
  async #putRight(): Promise<void> {
    const { tools, membership } = this.#options
    const now = tools.clock.now()
    if (Math.abs(now - this.#putRightAt) < PUT_RIGHT_INTERVAL_MS) return
    const claimed = await claimsOf(tools.store, membership.nodeId)
    // Read after the store: a run by hand is listed before it claims, so its claim is never taken for a lost one.
    const known = new Set([...this.#active.keys(), ...this.#writer.waiting])
    const lost = claimed.filter((id) => !known.has(id))
    await releaseClaims(tools.store, membership.nodeId, lost)
    await bringForward(tools.store, now)
    this.#putRightAt = now
  }
}

/** Helps to find what ended a process; the probe is more often the victim than the cause. */
const lostRuns = ({ lost_runs: count }: ProbeRow): Error =>
  new Error(`its node stopped during its last ${count === 1 ? 'run' : `${count} runs`}; it is run again`)

/** Delay until a run that is due at `dueAt` starts, ms. */
function waitMs(dueAt: number, now: number): number {
  return dueAt <= now ? 0 : Math.ceil(dueAt / START_INTERVAL_MS) * START_INTERVAL_MS - now
}
