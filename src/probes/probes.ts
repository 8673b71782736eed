import type { Registry as MetricsRegistry } from 'prom-client'
import { Jobs, type Leases, type Membership } from '../cluster/index.ts'
import { type Clock, type Loop, MINUTE } from '../lib/index.ts'
import type { DeletionHooks, ManagementOptions } from '../management/index.ts'
import type { Outbound } from '../outbound/index.ts'
import type { Store } from '../store/index.ts'
import { addAutomaticProbes, removeOfSites } from './api/changes.ts'
import { mostProbes } from './api/probe-room.ts'
import { probeMetrics } from './metrics.ts'
import { OwnConnection } from './own-connection.ts'
import type { ProbeSettings, ProbeType } from './probe-type.ts'
import { PROBE_TYPES, type Registry, registryOf } from './registry.ts'
import { clearResults } from './retention.ts'
import { RETRY_AFTER_MS } from './run-probe.ts'
import { Scheduler, type SchedulerOptions } from './scheduler.ts'
import { PageReader } from './types/pages.ts'
import type { ResultHook } from './write-results.ts'

const RETENTION_INTERVAL_MS = 10 * MINUTE

export interface ProbesOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  outbound: Outbound
  settings: ProbeSettings
  /** Asked before a probe reports that its target does not answer, to rule out our own connection. Empty: no one is asked. */
  connectionCheckUrls?: readonly string[]
  /** How many days results are kept. */
  resultDays: number
  onError: (error: Error, what: string) => void
  /** All types, unless a test passes its own. */
  types?: readonly ProbeType[]
  /** Delay before a second attempt, ms. */
  retryAfterMs?: number
  onResults?: ResultHook
  noteOutage?: SchedulerOptions['noteOutage'] | undefined
}

/** The probes of this process: their types, the scheduler, and the retention of their results. */
export class Probes {
  readonly registry: Registry
  readonly scheduler: Scheduler
  /** Adds the probes that a new site's fields allow. */
  readonly addProbes: ManagementOptions['addProbes'] = (trx, ctx, site, access) =>
    addAutomaticProbes(trx, ctx, this.registry, site, mostProbes(access))
  readonly #jobs: Jobs
  readonly #pages = new PageReader()
  readonly #connection: OwnConnection

  constructor(options: ProbesOptions) {
    const { store, clock, membership, leases, outbound, settings, resultDays, onError } = options
    const { types = PROBE_TYPES, retryAfterMs = RETRY_AFTER_MS, onResults = () => Promise.resolve() } = options
    const { connectionCheckUrls: references = [], noteOutage = () => Promise.resolve() } = options
    this.registry = registryOf(types)
    this.#connection = new OwnConnection({ references, outbound, clock, onError })
    this.scheduler = new Scheduler({
      tools: { store, clock, outbound, pages: this.#pages, settings, connection: this.#connection, retryAfterMs },
      registry: this.registry,
      membership,
      onResults,
      onError,
      noteOutage,
    })
    this.#jobs = new Jobs({ clock, leases, onError }).deletingByAge(
      'probe-retention',
      RETENTION_INTERVAL_MS,
      (now, shouldContinue) => clearResults(store, resultDays, now, shouldContinue),
    )
  }

  get loops(): readonly Loop[] {
    return [...this.scheduler.loops, this.#connection.loop, ...this.#jobs.loops]
  }

  /** Why this node doubts its own connection, or null. */
  get connectionDoubt(): string | null {
    return this.#connection.doubt
  }

  registerMetrics(registry: MetricsRegistry): void {
    probeMetrics(registry, this.scheduler)
  }

  /** Only sites have probes, so no other deletion needs a hook. */
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfSites'> = { removeOfSites }

  start(): void {
    this.scheduler.start()
    this.#connection.loop.start()
    this.#jobs.start()
  }

  /** @param graceMs time that active runs have to finish */
  async stop(graceMs?: number): Promise<void> {
    await Promise.all([this.#jobs.stop(), this.scheduler.stop(graceMs), this.#connection.loop.stop()])
    await this.#pages.close()
  }
}
