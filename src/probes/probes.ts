import type { Registry as MetricsRegistry } from 'prom-client'
import { Jobs, type Leases, type Membership } from '../cluster/index.ts'
import { type Clock, type Loop, MINUTE } from '../lib/index.ts'
import type { DeletionHooks, ManagementOptions } from '../management/index.ts'
import type { Outbound } from '../outbound/index.ts'
import type { Store } from '../store/index.ts'
import { addAutomaticProbes, removeOfSites } from './api/changes.ts'
import { probeMetrics } from './metrics.ts'
import type { ProbeSettings, ProbeType } from './probe-type.ts'
import { PROBE_TYPES, type Registry, registryOf } from './registry.ts'
import type { ResultHook } from './result-writer.ts'
import { clearResults } from './retention.ts'
import { RETRY_AFTER_MS } from './run-probe.ts'
import { Scheduler } from './scheduler.ts'
import { PageReader } from './types/pages.ts'

const RETENTION_INTERVAL_MS = 10 * MINUTE

export interface ProbesOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  outbound: Outbound
  settings: ProbeSettings
  /** Days that results are kept. */
  resultDays: number
  onError: (error: Error, what: string) => void
  /** Every type there is, unless a test has others. */
  types?: readonly ProbeType[]
  /** Before a second attempt, ms. */
  retryAfterMs?: number
  onResults?: ResultHook
}

/** The probes of this process: their types, the scheduler and the retention of what they found. */
export class Probes {
  readonly registry: Registry
  readonly scheduler: Scheduler
  /** Adds the probes that a new site's fields allow. */
  readonly addProbes: ManagementOptions['addProbes'] = (trx, ctx, site) =>
    addAutomaticProbes(trx, ctx, this.registry, site)
  readonly #jobs: Jobs
  readonly #pages = new PageReader()

  constructor(options: ProbesOptions) {
    const { store, clock, membership, leases, outbound, settings, resultDays, onError } = options
    const { types = PROBE_TYPES, retryAfterMs = RETRY_AFTER_MS, onResults = () => Promise.resolve() } = options
    this.registry = registryOf(types)
    this.scheduler = new Scheduler({
      tools: { store, clock, outbound, pages: this.#pages, settings, retryAfterMs },
      registry: this.registry,
      membership,
      onResults,
      onError,
    })
    this.#jobs = new Jobs({ clock, leases, onError }).deletingByAge(
      'probe-retention',
      RETENTION_INTERVAL_MS,
      (now, mayGoOn) => clearResults(store, resultDays, now, mayGoOn),
    )
  }

  get loops(): readonly Loop[] {
    return [...this.scheduler.loops, ...this.#jobs.loops]
  }

  registerMetrics(registry: MetricsRegistry): void {
    probeMetrics(registry, this.scheduler)
  }

  /** Probes belong to sites alone. */
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfSites'> = { removeOfSites }

  start(): void {
    this.scheduler.start()
    this.#jobs.start()
  }

  /** @param graceMs that runs under way get to end */
  async stop(graceMs?: number): Promise<void> {
    await Promise.all([this.#jobs.stop(), this.scheduler.stop(graceMs)])
    await this.#pages.close()
  }
}
