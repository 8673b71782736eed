import type { Membership } from '../cluster/index.ts'
import { Allowance } from '../http/index.ts'
import { AppError, asError, Loop, SECOND } from '../lib/index.ts'
import { isPassing, type ProbeRow } from '../store/index.ts'
import {
  activeSites,
  bringForward,
  CLAIM_AHEAD_MS,
  CLAIM_INTERVAL_MS,
  claimDue,
  claimOne,
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
  /** Writes down for how long no events were taken, where that is not known yet. */
  noteOutage: () => Promise<void>
  onResults: ResultHook
  onError: (error: Error, what: string) => void
}

/** Sees what the scheduler does; for metrics. */
export interface SchedulerWatch {
  /** A run that was due `lagMs` ago begins. */
  onStart?: (lagMs: number) => void
  /** A result was written; `unjudged` is an ok that found nothing to judge. */
  onResult?: (probeType: string, outcome: ResultStatus | 'unjudged') => void
}

/** Runs that are due within this time begin together, at its end: woken for each alone, the threads take twice the time for it. */
const START_INTERVAL_MS = 100
/** Results that end within this time share a transaction. */
const WRITE_INTERVAL_MS = 100
/** Claimed by one statement. In small steps, so that a client who has many due is found to hold enough before all places are theirs. */
const CLAIM_STEP = 64
/** After so long a pause (the machine slept, its clock was set) the outage comes first, or it is taken for silence of what is watched. */
const PAUSE_MS = 5 * SECOND
const PUT_RIGHT_INTERVAL_MS = 30 * SECOND
/** Runs asked for by people at the same time; they wait for no slot. */
const BY_HAND_MAX = 32
/** Of one client, or its people would take all of them for as long as its targets hang. */
const BY_HAND_OF_CLIENT_MAX = 8
/** Of one probe: each asks a host that may be of others. */
const BY_HAND_PER_MINUTE = 6
/** Time that runs under way get to end when the service stops, ms: requests have had 7 s before, and all of it 9.5 s. */
const STOP_GRACE_MS = SECOND

/**
 * Runs this node's share of the probes. Each round claims those that are due until the next and gives each a slot to run at
 * its time; a claim is held until the result is written, so that no probe runs twice at a time. A node that dies gives its
 * probes up by dying: a claim counts while its node lives, and moved the probe on by a minute at most.
 */
export class Scheduler {
  readonly loops: readonly Loop[]
  readonly #options: SchedulerOptions
  readonly #writer: ResultWriter
  readonly #claiming: Loop
  readonly #writing: Loop
  readonly #slots: Readonly<Record<ProbeType['kind'], RunSlots>> = {
    // Runs that mostly wait for others. The most that can hang here at once.
    wire: new RunSlots(256, 64),
    // Runs that query: more at once would only wait for each other, and keep reports from the database.
    data: new RunSlots(4, 252),
  }
  #roundAt = 0
  /** The runs under way, by the id of their probe: undefined from those that end without a result. */
  readonly #active = new Map<string, Promise<Finished | undefined>>()
  readonly #watches: SchedulerWatch[] = []
  readonly #stopping = new AbortController()
  readonly #handLimit: Allowance
  /** Runs by hand under way, by client. */
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

  /** Runs under way, those that wait for a slot or for their result to be written included. */
  get active(): number {
    return this.#active.size
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** One round of claiming, for tests: what it starts continues. */
  async claim(): Promise<void> {
    await this.#claiming.tick()
  }

  /** Writes what has ended, for tests. */
  async write(): Promise<void> {
    await this.#writing.tick()
  }

  /**
   * Runs a probe now, or joins its run under way here. Undefined when there is no such probe (any more).
   *
   * @throws AppError `conflict` when another node is running it, or too many are run by hand; `rate_limited` when this one was too often
   * @throws StoreError
   */
  async runNow(id: string): Promise<Finished | undefined> {
    const active = this.#active.get(id)
    if (active !== undefined) return active
    if (this.#byHand >= BY_HAND_MAX) {
      throw new AppError('conflict', `${BY_HAND_MAX} probes are being run by hand already: try again in a moment`)
    }
    this.#handLimit.take(id)
    this.#byHand++
    return this.#keep(id, this.#runByHand(id)).finally(() => {
      this.#byHand--
    })
  }

  /** Waits a moment for the runs under way, cancels the rest, and gives back what this node has claimed. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    const { tools, membership, onError } = this.#options
    await this.#claiming.stop()
    for (const slots of Object.values(this.#slots)) slots.dropQueue()
    // Runs end when their results are written.
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
    // Before another node can take the claims for those of a dead one.
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
        const claimed = await claimDue(claimant, types, until, limit, slots.sated)
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
      const run = slots.run(
        site.client_id,
        async () => {
          const lagMs = tools.clock.now() - dueAtOf(probe)
          for (const { onStart } of this.#watches) onStart?.(lagMs)
          return runProbe(tools, this.#typeOf(probe), probe, site, this.#stopping.signal)
        },
        waitMs(dueAtOf(probe), tools.clock.now()),
      )
      const written = run.then((ended) => ended && this.#write(finishedOf(probe, site, ended)))
      this.#keep(probe.id, written).catch((thrown: unknown) => {
        // What the store does not take now is kept and reported by the loop that writes.
        if (!isPassing(thrown)) onError(asError(thrown), `probe ${probe.id} (${probe.probe_type})`)
      })
    }
    // Asked for by hand a moment ago, or its claim was lost to another node whose run is over: it waits for the one here.
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
        `${hands} probes of the client are being run by hand already: try again in a moment`,
      )
    }
    return this.#hands.during(owner, () => this.#claimAndRun(id))
  }

  async #claimAndRun(id: string): Promise<Finished | undefined> {
    const { tools, membership } = this.#options
    const { store, clock } = tools
    const probe = await claimOne({ store, nodeId: membership.nodeId, now: clock.now() }, id)
    if (probe === undefined) {
      const isThere = await store.read.selectFrom('probes').select('id').where('id', '=', id).executeTakeFirst()
      if (isThere === undefined) return undefined
      throw new AppError('conflict', 'The probe is already running; its result will be in the list')
    }
    const site = await siteOf(store, probe)
    if (site === undefined) return undefined
    const run = await runProbe(tools, this.#typeOf(probe), probe, site, this.#stopping.signal)
    if (run === undefined) throw new AppError('unavailable', 'the service stops')
    const [written] = await Promise.all([this.#write(finishedOf(probe, site, run)), this.#writing.tick()])
    return written
  }

  /** @returns the result once it is on disk; undefined when its claim was lost */
  async #write(finished: Finished): Promise<Finished | undefined> {
    if (!(await this.#writer.add(finished))) return undefined
    const { probe, status, result } = finished
    for (const { onResult } of this.#watches) onResult?.(probe.probe_type, result.reason === null ? status : 'unjudged')
    return finished
  }

  #typeOf({ probe_type }: ProbeRow): ProbeType | undefined {
    return this.#options.registry.get(probe_type)
  }

  /** Knows the run as one under way until it has ended. */
  #keep(id: string, run: Promise<Finished | undefined>): Promise<Finished | undefined> {
    const kept = run.finally(() => this.#active.delete(id))
    this.#active.set(id, kept)
    return kept
  }

  /**
   * Gives back what the store says is claimed by this node although it runs nothing of it: a claim whose answer did not arrive,
   * or one that could not be given back. While the node lives, no other would take them. And takes up again what was put off by a
   * clock that was ahead.
   */
  async #putRight(): Promise<void> {
    const { tools, membership } = this.#options
    const now = tools.clock.now()
    if (Math.abs(now - this.#putRightAt) < PUT_RIGHT_INTERVAL_MS) return
    const claimed = await claimsOf(tools.store, membership.nodeId)
    // Looked at after the store: a run by hand is known before it claims.
    const known = new Set([...this.#active.keys(), ...this.#writer.waiting])
    const lost = claimed.filter((id) => !known.has(id))
    await releaseClaims(tools.store, membership.nodeId, lost)
    await bringForward(tools.store, now)
    this.#putRightAt = now
  }
}

/** For the search for what ended a process: a probe is more often the victim than the cause. */
const lostRuns = ({ lost_runs: count }: ProbeRow): Error =>
  new Error(`its node stopped during its last ${count === 1 ? 'run' : `${count} runs`}; it is run again`)

/** How long a run that is due then has to wait. */
function waitMs(dueAt: number, now: number): number {
  return dueAt <= now ? 0 : Math.ceil(dueAt / START_INTERVAL_MS) * START_INTERVAL_MS - now
}
