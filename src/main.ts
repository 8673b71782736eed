import { type AddressInfo, createServer } from 'node:net'
import type { Logger } from 'pino'
import { firstOwnerLink, issuersOf, type Passwords } from './accounts/index.ts'
import { buildApp } from './app.ts'
import { ClockGuard, DatabaseClock, Leases, Listening, Membership } from './cluster/index.ts'
import { type Config, hasRole, wideProxyAddress } from './config.ts'
import { Ingest } from './ingest/index.ts'
import { asError, type Clock, Closers, Repeats, StartupError } from './lib/index.ts'
import {
  createChatTransport,
  createEmailTransport,
  createMailer,
  type DigestReaders,
  digestReaders,
  type Mailer,
  type Transports,
} from './notifications/index.ts'
import { SelfWatch } from './operations/index.ts'
import { type Outbound, OutboundThread, type OutboundThreadOptions, type OwnedOutbound } from './outbound/index.ts'
import {
  hasUnfinishedCopy,
  keepPrivate,
  migrate,
  openStore,
  type Store,
  StoreError,
  WAITING_FOR_TABLES,
  WAITING_TO_MIGRATE,
} from './store/index.ts'
import { VERSION } from './version.ts'
import { Worker } from './worker.ts'

export interface ServiceOptions {
  config: Config
  /**
   * This machine's clock. On a shared database, everything uses the database's clock instead. A clock without monotonic time is a
   * test's and stands for both.
   */
  clock: Clock
  log: Logger
  /** Called when the store can no longer work until the process restarts. */
  onDeath?: (error: Error) => void
  /** Called just before the service listens: from then on others can see that it runs, and stop it. */
  onListening?: () => void
  /** Opens the store; a test may open one without threads. */
  open?: typeof openStore
  /** Opens the way to other systems; a test may open one without a thread. */
  openOutbound?: (options: OutboundThreadOptions) => OwnedOutbound
  /** Hashes passwords; a test may use a cheap hash. */
  passwords?: Passwords | undefined
}

/** A running Tagwarden. */
export interface Service {
  /** The address it listens on, e.g. `http://127.0.0.1:8080`. */
  address: string
  store: Store
  membership: Membership
  leases: Leases
  /** Null when this node's role takes no ingest requests. */
  listening: Listening | null
  /** Null when this node's role takes no ingest requests. */
  ingest: Ingest | null
  /** Null when this node's role takes ingest requests and does nothing else. */
  worker: Worker | null
  /**
   * Stops accepting requests, answers those in flight, commits and folds, and closes the store.
   * @param graceMs time after which connections that are still busy are cut, ms
   */
  stop: (graceMs?: number) => Promise<void>
}

/** Time for requests in flight to finish, ms. With the commits that follow, stopping takes well under 10 s. */
const STOP_GRACE_MS = 7_000
/** Interval at which idle connections are closed while stopping, ms. */
const IDLE_SWEEP_MS = 50

/**
 * Starts everything in order: store, migrations, membership, ingest, HTTP, background loops. A failure closes what is open.
 *
 * @throws StartupError with one line for the operator
 */
export async function startService({
  config,
  clock: machine,
  log,
  onDeath,
  onListening,
  open = openStore,
  openOutbound = (options) => new OutboundThread(options),
  passwords,
}: ServiceOptions): Promise<Service> {
  const closers = new Closers()
  try {
    const repeats = new Repeats(machine)
    const onError = (err: Error, what: string) => {
      const repeated = repeats.passes(`${what}: ${err.message}`)
      if (repeated !== null) log.error({ err, what, ...(repeated > 0 && { repeated }) }, `${what} failed`)
    }
    const onRecovery = (failedMs: number) => log.info({ failed_ms: failedMs }, 'the store accepts writes again')
    warnOfWideProxy(config, log)
    const store = await open(config, onError, onDeath)
    closers.add(() => store.close())
    await requireFreePort(config)
    const files = await keepPrivate(config)
    if (files.length > 0) log.info({ files }, 'other users could open files of the database: now only their owner can')
    if (store.isShared && (await hasUnfinishedCopy(store.admin))) {
      throw new StartupError(
        'DATABASE_URL holds an unfinished copy: let "tagwarden migrate --from …" finish it before the service starts',
      )
    }
    const steps = await migrate(store.admin, store.columnTypes, undefined, {
      onStep: (step) =>
        log.info(
          { step },
          'migrating the database: a large one takes minutes, and if interrupted, the step begins again',
        ),
      onWait: () => log.info(WAITING_TO_MIGRATE),
      onTablesInUse: () => log.warn(WAITING_FOR_TABLES),
    })
    // Only their number: a new database takes all of them, a screenful, and others have been named one by one.
    if (steps.length > 0) log.info({ steps: steps.length }, 'database migrated')
    await store.followChanges()

    const isFollowed = store.now !== undefined && machine.monotonic !== undefined
    const clock = isFollowed ? await DatabaseClock.open(machine, store.now) : machine
    const guard = await ClockGuard.open({ store, clock, onError })
    closers.add(() => guard.stop())
    const membership = await Membership.join({
      store,
      clock,
      role: config.role,
      version: VERSION,
      expiry: guard,
      onError,
    })
    closers.add(() => membership.leave())
    const leases = new Leases({ store, clock, membership, expiry: guard })
    const node = { store, clock, membership, leases, onError }

    const ingest = hasRole(config, 'ingest')
      ? await Ingest.open({ ...node, expiry: guard, keyHeaders: config.ingestKeyHeaders, onRecovery })
      : null
    closers.add(() => ingest?.stop())
    const listening = ingest === null ? null : new Listening({ store, clock, trouble: () => ingest.trouble, onError })

    const outbound = openOutbound({ allow: config.outboundAllow, userAgent: `Tagwarden/${VERSION}`, clock })
    closers.add(() => outbound.close())
    const mailer = mailerOf(config)
    const transports = transportsOf(config, outbound, mailer, digestReaders(store, clock))
    let address = ''
    const publicUrl = () => config.publicUrl ?? address
    const noteOutage = async () => listening?.loop.tick()
    const worker = hasRole(config, 'worker')
      ? new Worker({ ...node, expiry: guard, config, outbound, transports, mailer, publicUrl, noteOutage })
      : null
    closers.add(() => worker?.stop())

    let isStopping = false
    const loops = [
      guard.loop,
      ...(listening === null ? [] : [listening.loop]),
      ...[membership, ingest, worker].flatMap((part) => part?.loops ?? []),
    ]
    const clockDoubt = () => guard.doubt
    const app = await buildApp({
      ...node,
      config,
      ingest,
      worker,
      loops,
      outbound,
      log,
      mailer,
      publicUrl,
      clockDoubt,
      isStopping: () => isStopping,
      passwords,
    })
    closers.add(() => app.close())
    onListening?.()
    await listen(app, config)
    address = addressOf(app.server.address())
    await offerFirstAccount(store, clock, config, publicUrl(), log)
    closers.add(() => listening?.stop())
    await listening?.start()
    // Only now, because the worker's messages contain links to this address.
    worker?.start()
    const watch = new SelfWatch({
      ...node,
      outbound,
      loops,
      publicUrl,
      chat: transports.chat,
      globalWebhook: config.chatWebhookUrl,
      heartbeatUrl: config.heartbeatUrl,
      nodeId: membership.nodeId,
      writeTrouble: () => (ingest ?? membership).trouble,
      clockDoubt,
      connectionDoubt: () => worker?.probes.connectionDoubt ?? null,
    })
    watch.loop.start()
    closers.add(() => watch.stop())
    const stop = async (graceMs = STOP_GRACE_MS): Promise<void> => {
      isStopping = true
      // A busy sender's keep-alive connection is idle only briefly between two requests; closing idle ones once would miss it.
      const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs)
      await app.close()
      clearInterval(sweep)
      clearTimeout(cut)
      await closers.closeAll()
    }
    return { address, store, membership, leases, listening, ingest, worker, stop }
  } catch (thrown) {
    // What a broken database keeps from closing would only hide what broke.
    await closers.closeAll().catch(() => undefined)
    // A full or read-only disk may show only now, at the first write: opening the database need not write.
    throw thrown instanceof StoreError ? new StartupError(`the database cannot be used: ${thrown.message}`) : thrown
  }
}

function warnOfWideProxy(config: Config, log: Logger): void {
  const range = wideProxyAddress(config)
  if (range === null) return
  log.warn({ range }, 'every machine in this range of PROXY_ADDRESSES can sign in as anyone: name only the proxy')
}

/** Logs the link for the first owner: without an admin token, someone must be able to sign in. */
async function offerFirstAccount(
  store: Store,
  clock: Clock,
  config: Config,
  publicUrl: string,
  log: Logger,
): Promise<void> {
  if (config.adminToken !== null || !hasRole(config, 'worker')) return
  const link = await firstOwnerLink({ store, clock }, config.adminEmail, publicUrl, issuersOf(config))
  if (link !== null)
    log.warn(link, 'no one can manage this service yet: open the link to set a password; it works once, within 7 days')
}

const mailerOf = ({ smtpUrl, smtpFrom }: Config): Mailer | null =>
  smtpUrl === null || smtpFrom === null ? null : createMailer({ smtpUrl, smtpFrom })

const transportsOf = (
  { webhookSecret }: Config,
  outbound: Outbound,
  mailer: Mailer | null,
  readersOf: DigestReaders,
): Transports => ({
  chat: createChatTransport({ outbound, webhookSecret }),
  email: mailer === null ? null : createEmailTransport(mailer, readersOf),
})

/**
 * Length of the queue of connections not accepted yet; Linux caps it at this by default. When the queue is full, a connection's
 * first request is dropped and hangs for seconds.
 */
const CONNECTION_BACKLOG = 4_096

async function listen(app: Awaited<ReturnType<typeof buildApp>>, config: Config): Promise<void> {
  try {
    await app.listen({ host: config.host, port: config.port, backlog: CONNECTION_BACKLOG })
  } catch (thrown) {
    throw cannotListen(asError(thrown), config)
  }
}

/**
 * Checked before migrating: a second process, started by mistake, must not change the schema under the first.
 *
 * @throws StartupError
 */
export async function requireFreePort(config: Config): Promise<void> {
  // Drop anyone who connects meanwhile, because an open connection would keep the server from closing.
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, config)))
    server.listen(config.port, config.host, () => server.close(() => resolve()))
  })
}

function cannotListen(error: Error, { host, port }: Config): StartupError {
  const where = `HOST=${host} PORT=${port}`
  return 'code' in error && error.code === 'EADDRINUSE'
    ? new StartupError(`${where} is in use by another program: stop it, or choose another PORT`)
    : new StartupError(`cannot listen on ${where}: ${error.message}`)
}

function addressOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server has no network address')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
