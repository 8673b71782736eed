import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { Type } from 'typebox'
import type { Leases, Membership } from '../cluster/index.ts'
import type { HttpApp } from '../http/index.ts'
import type { Ingest } from '../ingest/index.ts'
import type { Clock, Loop } from '../lib/index.ts'
import type { Notifications } from '../notifications/index.ts'
import type { Probes } from '../probes/index.ts'
import type { Store } from '../store/index.ts'
import { deliveryMetrics } from './delivery-metrics.ts'

export interface MetricsOptions {
  store: Store
  membership: Membership
  leases: Leases
  /** Null on a node that takes no ingest requests. */
  ingest: Ingest | null
  /** Null on a node that runs none. */
  probes: Probes | null
  /** Null on a node that sends none. */
  notifications: Notifications | null
  loops: readonly Loop[]
  clock: Clock
  role: string
  version: string
  /** The metrics of each site, in the same format; left out, there are none. */
  perSite?: () => Promise<string>
}

/**
 * `/metrics` in Prometheus' text format. Values are read when they are asked for; counting costs ingest nothing. What the
 * store cannot say is left out: the rest is wanted most when the store is unavailable.
 */
export function metricsRoutes(app: HttpApp, options: MetricsOptions): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  nodeMetrics(registry, options)
  if (options.ingest !== null) ingestMetrics(registry, options.ingest)
  if (options.probes !== null) probeMetrics(registry, options.probes)
  const { store, clock, notifications } = options
  if (notifications !== null) deliveryMetrics(registry, { store, clock, notifications })
  loopMetrics(registry, options)
  const schema = { hide: true, querystring: Type.Object({}, { additionalProperties: false }) }
  app.get('/metrics', { config: { host: 'own' }, schema }, async (_request, reply) => {
    reply.type(registry.contentType)
    return (await registry.metrics()) + ((await options.perSite?.()) ?? '')
  })
}

function nodeMetrics(registry: Registry, { store, membership, leases, role, version }: MetricsOptions): void {
  const registers = [registry]
  new Gauge({
    name: 'tagwarden_info',
    help: 'The running program',
    labelNames: ['version', 'engine', 'node', 'role'],
    registers,
  })
    .labels({ version, engine: store.engine, node: membership.nodeId, role })
    .set(1)
  new Gauge({
    name: 'tagwarden_nodes',
    help: 'Living nodes on the database; 0 when it cannot be asked',
    registers,
    async collect() {
      const living = await membership.liveNodeIds().catch(() => [])
      this.set(living.length)
    },
  })
  new Gauge({
    name: 'tagwarden_leases',
    help: 'Whether this node does the work that one node at a time does',
    labelNames: ['name'],
    registers,
    collect() {
      for (const [name, isHeld] of leases.holdings) this.labels({ name }).set(isHeld ? 1 : 0)
    },
  })
}

function ingestMetrics(registry: Registry, ingest: Ingest): void {
  const registers = [registry]
  new Counter({
    name: 'tagwarden_ingest_requests_total',
    help: 'Ingest requests by their answer',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset()
      for (const [result, count] of Object.entries(ingest.status().answers)) this.labels({ result }).inc(count)
    },
  })
  new Counter({
    name: 'tagwarden_commits_total',
    help: 'Group commits that reached the disk',
    registers,
    collect() {
      this.reset()
      this.inc(ingest.status().commits.commits)
    },
  })
  new Counter({
    name: 'tagwarden_submissions_total',
    help: 'Checked payloads by the outcome of their commit',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      const { committed, duplicates, failed } = ingest.status().commits
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
      this.set(ingest.status().waiting)
    },
  })
  new Gauge({
    name: 'tagwarden_ingest_bytes',
    help: 'Bytes of ingest requests under way, from the first of a body to the answer',
    registers,
    collect() {
      this.set(ingest.status().bytesUnderWay)
    },
  })
  new Gauge({
    name: 'tagwarden_fold_lag_seconds',
    help: 'Age of the oldest accepted count that reports do not show yet',
    registers,
    collect() {
      this.set(ingest.status().foldLagMs / 1_000)
    },
  })
}

function loopMetrics(registry: Registry, { loops, clock }: MetricsOptions): void {
  new Gauge({
    name: 'tagwarden_loop_lag_seconds',
    help: 'How much longer ago than planned a background loop last ended well',
    labelNames: ['loop'],
    registers: [registry],
    collect() {
      for (const loop of loops) {
        this.labels({ loop: loop.name }).set(loop.lagMs(clock.now()) / 1_000)
      }
    },
  })
}

/** Around the promised lag of less than a second, and up to what a restart costs. Seconds. */
const LAG_BUCKETS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10, 30, 60]

function probeMetrics(registry: Registry, { scheduler }: Probes): void {
  const registers = [registry]
  const lag = new Histogram({
    name: 'tagwarden_probe_lag_seconds',
    help: 'How long after its time a run of a probe began',
    buckets: LAG_BUCKETS,
    registers,
  })
  const runs = new Counter({
    name: 'tagwarden_probe_runs_total',
    help: 'Runs of probes whose result was written; unjudged is an ok that found nothing to judge',
    labelNames: ['probe_type', 'status'],
    registers,
  })
  scheduler.watch({
    onStart: (lagMs) => lag.observe(lagMs / 1_000),
    onResult: (probe_type, status) => runs.labels({ probe_type, status }).inc(),
  })
  new Gauge({
    name: 'tagwarden_probes_active',
    help: 'Probes that this node runs, or will as soon as there is a place',
    registers,
    collect() {
      this.set(scheduler.active)
    },
  })
}
