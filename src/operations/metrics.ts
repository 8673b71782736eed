import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { Type } from 'typebox'
import type { HttpApp } from '../http/index.ts'
import type { Loop } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

/** Adds a room's metrics; their values are read on request. */
export type RegisterMetrics = (registry: Registry) => void

export interface MetricsOptions {
  store: Pick<Store, 'engine'>
  nodeId: string
  rooms: readonly RegisterMetrics[]
  loops: readonly Loop[]
  role: string
  version: string
  /** The metrics of each site in the same format; none when left out. */
  perSite?: () => Promise<string>
}

/**
 * Adds `/metrics` in Prometheus' text format. Values are read on request, so counting costs ingest nothing. Values that the store
 * cannot provide are left out: the rest is needed most while the store is unavailable.
 */
export function metricsRoutes(app: HttpApp, options: MetricsOptions): void {
  const ofProcess = processMetrics()
  const registry = new Registry()
  serviceMetrics(registry, options)
  for (const register of options.rooms) register(registry)
  loopMetrics(registry, options)
  const schema = { hide: true, querystring: Type.Object({}, { additionalProperties: false }) }
  app.get('/metrics', { config: { host: 'own' }, schema }, async (_request, reply) => {
    reply.type(registry.contentType)
    const parts = [await ofProcess.metrics(), await registry.metrics(), await options.perSite?.()]
    return parts.join('')
  })
}

let shared: Registry | undefined

/**
 * Metrics of the process, shared by all services it has run. The library observes garbage collections and the event loop's delay
 * and never stops: a registry per service kept everything that a service had, 3 MB, and woke up for it a hundred times a second.
 */
function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry()
    collectDefaultMetrics({ register: shared })
  }
  return shared
}

function serviceMetrics(registry: Registry, { store, nodeId, role, version }: MetricsOptions): void {
  new Gauge({
    name: 'tagwarden_info',
    help: 'The running program',
    labelNames: ['version', 'engine', 'node', 'role'],
    registers: [registry],
  })
    .labels({ version, engine: store.engine, node: nodeId, role })
    .set(1)
}

function loopMetrics(registry: Registry, { loops }: MetricsOptions): void {
  new Gauge({
    name: 'tagwarden_loop_lag_seconds',
    help: 'How overdue a background loop is: time since its last success beyond the planned interval',
    labelNames: ['loop'],
    registers: [registry],
    collect() {
      for (const loop of loops) {
        this.labels({ loop: loop.name }).set(loop.lagMs() / 1_000)
      }
    },
  })
}
