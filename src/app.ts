import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { analyticsRoutes } from './analytics/index.ts'
import type { Leases, Membership } from './cluster/index.ts'
import { type Config, hasRole, isLoopback } from './config.ts'
import { dashboardRoutes } from './dashboard/index.ts'
import { createHttpApp, type HttpApp, IDLE_SOCKET_TIMEOUT_MS, SERVER_LIMITS } from './http/index.ts'
import { INGEST_PATHS, type Ingest, ingestRoutes } from './ingest/index.ts'
import type { Clock, Loop } from './lib/index.ts'
import { managementRoutes } from './management/index.ts'
import { healthRoutes, metricsRoutes, nodeRoutes } from './operations/index.ts'
import { type Probes, probeRoutes } from './probes/index.ts'
import { isPassing, type Store } from './store/index.ts'
import { VERSION } from './version.ts'

export interface AppOptions {
  config: Config
  store: Store
  membership: Membership
  leases: Leases
  /** Null on a node that takes no ingest requests. */
  ingest: Ingest | null
  /** Null on a node that only takes ingest requests. */
  probes: Probes | null
  loops: readonly Loop[]
  clock: Clock
  log: Logger
  isStopping: () => boolean
  onError: (error: Error, what: string) => void
}

/** What this node's role answers over HTTP; does not listen. */
export async function buildApp(options: AppOptions): Promise<HttpApp> {
  const { config, store, membership, leases, ingest, probes, loops, clock, log, isStopping } = options
  const isForPeople = hasRole(config, 'worker')
  const app = await createHttpApp({
    log,
    clock,
    access: {
      adminToken: config.adminToken,
      viewerToken: config.viewerToken,
      listensOnLoopback: isLoopback(config.host),
    },
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    isPassing,
    version: VERSION,
    isForPeople,
    serverFactory: (handler) => createHttpServer(ingest === null ? handler : ingestFirst(ingest, handler)),
  })
  if (ingest !== null) ingestRoutes(app, ingest, config.ingestKeyHeaders)
  healthRoutes(app, { store, writeTrouble: () => (ingest ?? membership).trouble, isStopping })
  metricsRoutes(app, { store, membership, leases, ingest, probes, loops, clock, role: config.role, version: VERSION })
  if (probes !== null) apiRoutes(app, options, probes)
  return app
}

function apiRoutes(app: HttpApp, { config, store, clock, onError }: AppOptions, probes: Probes): void {
  const retention = { minuteDays: config.retentionMinuteDays, hourDays: config.retentionHourDays }
  managementRoutes(app, { store, clock, belongings: probes.belongings, defaultPlan: config.defaultPlan })
  probeRoutes(app, { store, clock, registry: probes.registry, scheduler: probes.scheduler })
  analyticsRoutes(app, { store, clock, retention })
  dashboardRoutes(app, { store, clock, onError })
  nodeRoutes(app, { store, clock })
}

/**
 * Ingest is answered before the framework builds its request and reply: measured on one core, that is 4 to 6 % of all
 * requests a bare `node:http` server can answer.
 */
function ingestFirst(ingest: Ingest, handler: RequestListener): RequestListener {
  const paths = new Set(INGEST_PATHS)
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'POST' && request.url !== undefined && paths.has(request.url)) {
      ingest.handle(request, response)
    } else {
      handler(request, response)
    }
  }
}

function createHttpServer(handler: RequestListener): Server {
  const server = createServer(SERVER_LIMITS, handler)
  server.timeout = IDLE_SOCKET_TIMEOUT_MS
  return server
}
