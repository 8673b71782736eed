import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import {
  accountHooks,
  accountRoutes,
  createCredentials,
  createOwners,
  issuersOf,
  type KnownCredentials,
  OidcProvider,
  type Passwords,
  ProxySignIn,
} from './accounts/index.ts'
import { alertRoutes, incidentRoutes, maintenanceRoutes, silenceRoutes } from './alerts/index.ts'
import { analyticsRoutes, diagnosticsRoutes, REPORT_LIMITS, tagVendorRoutes } from './analytics/index.ts'
import { clusterMetrics, type Leases, type Membership } from './cluster/index.ts'
import { asksForAccounts, type Config, hasRole, isLoopback } from './config.ts'
import { dashboardRoutes, SiteMetrics, searchRoutes, tagCatalogueRoutes } from './dashboard/index.ts'
import {
  callerReader,
  createHttpApp,
  enduring,
  Flooders,
  type FreshenCounts,
  freshenCounts,
  type HttpApp,
  IDLE_SOCKET_TIMEOUT_MS,
  inTurn,
  type ProxyHeaders,
  SERVER_LIMITS,
} from './http/index.ts'
import { type Ingest, ingestFirst, ingestRoutes } from './ingest/index.ts'
import { Freshness } from './journal/index.ts'
import { asError, type Clock, type Loop } from './lib/index.ts'
import { createOncePerKey, hooksInOrder, managementRoutes } from './management/index.ts'
import { mcpRoutes } from './mcp/index.ts'
import { type Mailer, notificationRoutes } from './notifications/index.ts'
import { healthRoutes, metricsRoutes, nodeRoutes, type RegisterMetrics, settingsRoutes } from './operations/index.ts'
import type { Outbound } from './outbound/index.ts'
import { probeRoutes, pushRoutes } from './probes/index.ts'
import { reconciliationRoutes } from './reconciliation/index.ts'
import { sharingRoutes } from './sharing/index.ts'
import { isPassing, type Store } from './store/index.ts'
import { todayRoutes } from './today/index.ts'
import { uptimeRoutes } from './uptime/index.ts'
import { VERSION } from './version.ts'
import { retentionOf, type Worker } from './worker.ts'

export interface AppOptions {
  config: Config
  store: Store
  membership: Membership
  leases: Leases
  /** Null on a node that takes no ingest requests. */
  ingest: Ingest | null
  /** Null on a node that only takes ingest requests. */
  worker: Worker | null
  loops: readonly Loop[]
  outbound: Outbound
  clock: Clock
  log: Logger
  /** Null where e-mail is not set up. */
  mailer: Mailer | null
  /** The address of the service for people; known once it listens. */
  publicUrl: () => string
  /** Why nothing is deleted by age, or null. */
  clockDoubt: () => string | null
  isStopping: () => boolean
  passwords?: Passwords | undefined
  onError: (error: Error, what: string) => void
}

/** Where `scripts/ensure-dashboard.mjs` puts what it builds. */
const DASHBOARD_FOLDER = join(import.meta.dirname, '../web/dist')

/** Time after which every node has read a change of sites or clients: nodes are notified, and also look twice a second. */
const CHANGE_KNOWN_MS = 1_000

/** Builds the HTTP app with the routes of this node's role; does not listen. */
export async function buildApp(options: AppOptions): Promise<HttpApp> {
  const { config, store, membership, leases, ingest, worker, loops, clock, log, clockDoubt, isStopping, onError } =
    options
  const isForPeople = hasRole(config, 'worker')
  const tokens = { admin: config.adminToken, viewer: config.viewerToken }
  const provider = isForPeople ? providerOf(options) : null
  const headers = isForPeople ? proxyHeadersOf(config) : null
  const proxy = headers === null ? null : proxySignInOf(options)
  const { passwords } = options
  const credentials = await createCredentials({ store, clock, tokens, provider, proxy, passwords, onError })
  const app = await createHttpApp({
    log,
    clock,
    access: {
      adminToken: config.adminToken,
      viewerToken: config.viewerToken,
      needsAccounts: asksForAccounts(config),
      singleSignOn: provider?.settings.name ?? null,
      proxy: headers,
      listensOnLoopback: isLoopback(config.host),
    },
    credentials,
    ownersOf: createOwners(store),
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    isPassing,
    version: VERSION,
    isForPeople,
    dashboardFolder: DASHBOARD_FOLDER,
    serverFactory: (handler) => {
      const flooders = new Flooders(clock)
      // Behind a trusted proxy only the socket is cut: blocking its address would block the proxy and everyone behind it.
      const cut = (socket: Socket) => (config.trustProxy.length === 0 ? flooders.cut(socket) : socket.destroy())
      const paced = inTurn(handler, callerReader(config.trustProxy), cut)
      const server = createHttpServer(enduring(ingest === null ? paced : ingestFirst(ingest, paced, cut), onError))
      flooders.keepOut(server)
      return server
    },
  })
  freshenCounts(app, freshenWith(options))
  // On every node, because jobs call any node they reach, as tags do. Nodes that run probes read the calls from the database.
  pushRoutes(app, { store, clock })
  if (ingest !== null) ingestRoutes(app, ingest, config.ingestKeyHeaders)
  const writeTrouble = () => (ingest ?? membership).trouble
  const connectionDoubt = () => worker?.probes.connectionDoubt ?? null
  const keysDoubt = () => ingest?.keysDoubt ?? null
  healthRoutes(app, { store, writeTrouble, clockDoubt, connectionDoubt, keysDoubt, isStopping })
  // Not on ingest nodes, to spare them: worker nodes report the same figures of all sites.
  const figures = worker === null ? null : new SiteMetrics({ store, clock, setting: config.metricsPerSite })
  const perSite = figures === null ? {} : { perSite: () => figures.text() }
  const rooms: RegisterMetrics[] = [
    (registry) => clusterMetrics(registry, { membership, leases }),
    ...[ingest, worker?.probes, worker?.notifications].map(
      (room): RegisterMetrics =>
        (registry) =>
          room?.registerMetrics(registry),
    ),
  ]
  const { nodeId } = membership
  metricsRoutes(app, { store, nodeId, rooms, loops, role: config.role, version: VERSION, ...perSite })
  if (worker !== null) apiRoutes(app, options, worker, credentials, provider)
  if (provider !== null) app.addHook('onListen', async () => void provider.prepare())
  return app
}

/** Not needed on the only node: one that joins meanwhile reads all keys after it has joined. */
async function untilAllKnowIt(store: Store, membership: Membership, request: FastifyRequest): Promise<void> {
  if (!store.isShared) return
  const isAlone = await membership.liveNodeIds().then(
    ({ length }) => length === 1,
    // The change is committed, so a failure must not reach the caller.
    () => false,
  )
  if (isAlone) return
  request.giveBackSlot()
  await delay(CHANGE_KNOWN_MS)
}

/** Folds pending counts before a report is read, so that a busy node's reports lag no more than others'. */
function freshenWith({ store, clock, membership, ingest, onError }: AppOptions): FreshenCounts {
  const { nodeId } = membership
  const freshness = new Freshness({ store, clock, nodeId, folder: ingest?.folder ?? null })
  const siteNoOf = async (id: string) =>
    (await store.read.selectFrom('sites').select('site_no').where('id', '=', id).executeTakeFirst())?.site_no
  return async (siteId) => {
    try {
      await (siteId === null ? freshness.ofAll() : freshness.ofSite(() => siteNoOf(siteId)))
    } catch (thrown) {
      // A passing failure is reported by the fold itself.
      if (!isPassing(thrown)) onError(asError(thrown), 'fresh counts')
    }
  }
}

function apiRoutes(
  app: HttpApp,
  { config, store, membership, clock, log, mailer, publicUrl: address, onError }: AppOptions,
  worker: Worker,
  credentials: KnownCredentials,
  provider: OidcProvider | null,
): void {
  const { probes, alerts, notifications } = worker
  const deletionHooks = hooksInOrder([worker.deletionHooks, accountHooks(store)])
  const { defaultPlan, publicUrl } = config
  createOncePerKey(app, { store, clock })
  managementRoutes(app, {
    store,
    clock,
    deletionHooks,
    addProbes: probes.addProbes,
    defaultPlan,
    publicUrl,
    untilAllKnowIt: (request) => untilAllKnowIt(store, membership, request),
  })
  probeRoutes(app, { store, clock, registry: probes.registry, scheduler: probes.scheduler, publicUrl })
  alertRoutes(app, { store, clock, channelSettings: alerts.channelSettings })
  incidentRoutes(app, { store, clock, channelSettings: alerts.channelSettings })
  silenceRoutes(app, { store, clock })
  maintenanceRoutes(app, { store, clock })
  notificationRoutes(app, { store, clock, notifications })
  const { read, interactive } = store
  const reports = { store: { read, reports: interactive }, clock, retention: retentionOf(config) }
  analyticsRoutes(app, { ...reports, limits: REPORT_LIMITS })
  diagnosticsRoutes(app, { store, clock, publicUrl, trustsProxy: config.trustProxy.length > 0 })
  todayRoutes(app, reports)
  tagCatalogueRoutes(app, reports)
  searchRoutes(app, { store, clock })
  tagVendorRoutes(app, { store, clock })
  reconciliationRoutes(app, { store, clock, retention: retentionOf(config), limits: REPORT_LIMITS })
  uptimeRoutes(app, { store, clock, retention: retentionOf(config) })
  dashboardRoutes(app, { store, clock, channelSettings: alerts.channelSettings, credentials, onError })
  sharingRoutes(app, { store, clock, publicUrl, isEmailOn: config.smtpUrl !== null })
  accountRoutes(app, {
    store,
    clock,
    credentials,
    mailer,
    publicUrl: address,
    provider,
    groupRoles: config.groupRoles,
    issuers: issuersOf(config),
    onError,
    warn: (facts, message) => log.warn(facts, message),
  })
  nodeRoutes(app, { store, clock })
  if (config.mcp === 'on') mcpRoutes(app, { clock, version: VERSION })
  settingsRoutes(app, { store, clock, settings: settingsOf(config) })
}

/** Null where no proxy signs people in. */
function proxyHeadersOf(config: Config): ProxyHeaders | null {
  const { proxyEmailHeader: email, proxyNameHeader: name, proxyGroupsHeader: groups } = config
  if (email === null) return null
  return { email, name, groups, addresses: config.proxyAddresses, signOutUrl: config.proxySignOutUrl }
}

function proxySignInOf({ config, store, clock, log, onError }: AppOptions): ProxySignIn {
  const warn = (facts: object, message: string) => log.warn(facts, message)
  return new ProxySignIn({ store, clock, groupRoles: config.groupRoles, warn, onError })
}

/** Null where the settings name no identity provider. */
function providerOf({ config, outbound, clock, log, publicUrl }: AppOptions): OidcProvider | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config
  if (issuer === null || clientId === null || clientSecret === null) return null
  const { oidcName: name, oidcScopes: scopes, oidcGroupsClaim: groupsClaim, oidcTrustEmail: trustsEmail } = config
  const settings = { issuer, clientId, clientSecret, name, scopes, groupsClaim, trustsEmail }
  const warn = (facts: object, message: string) => log.warn(facts, message)
  return new OidcProvider({ settings, outbound, clock, publicUrl, warn })
}

const settingsOf = (config: Config) => ({
  publicUrl: config.publicUrl,
  retention: {
    ...retentionOf(config),
    resultDays: config.retentionResultDays,
    auditDays: config.retentionAuditDays,
  },
  isEmailOn: config.smtpUrl !== null,
  hasGlobalWebhook: config.chatWebhookUrl !== null,
  signsWebhooks: config.webhookSecret !== null,
  hasHeartbeat: config.heartbeatUrl !== null,
  hasAdminToken: config.adminToken !== null,
  hasViewerToken: config.viewerToken !== null,
  defaultPlan: config.defaultPlan,
  version: VERSION,
})

function createHttpServer(handler: RequestListener): Server {
  const server = createServer(SERVER_LIMITS, handler)
  server.timeout = IDLE_SOCKET_TIMEOUT_MS
  return server
}
