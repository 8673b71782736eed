import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { buildApp } from './app.ts'
import type { Config } from './config.ts'
import { Ingest } from './ingest/index.ts'
import { asError, type Clock, Closers, StartupError } from './lib/index.ts'
import { Maintenance } from './rollups/index.ts'
import { migrate, openSqliteStore, type Store } from './store/index.ts'

export interface ServiceOptions {
  config: Config
  clock: Clock
  log: Logger
}

/** A running Tagwarden. */
export interface Service {
  /** Where it listens, e.g. `http://127.0.0.1:8080`. */
  address: string
  store: Store
  ingest: Ingest
  /**
   * Stops accepting, answers what is in flight, commits and folds, and closes the store.
   * @param graceMs connections that are still busy after this are cut
   */
  stop: (graceMs?: number) => Promise<void>
}

/** Time that requests in flight get to end, ms: with the commits after it well under ten seconds. */
const STOP_GRACE_MS = 7_000
/** How often connections that have become idle are closed while stopping, ms. */
const IDLE_SWEEP_MS = 50

/**
 * Opens everything in order: store, migrations, ingest, background loops, HTTP. What fails closes what was open.
 *
 * @throws StartupError with one line for the operator
 */
export async function startService({ config, clock, log }: ServiceOptions): Promise<Service> {
  const closers = new Closers()
  try {
    const store = await openSqliteStore(config.dataDir)
    closers.add(() => store.close())
    const steps = await migrate(store.write, store.columnTypes)
    if (steps.length > 0) log.info({ steps }, 'database migrated')

    const onError = (error: Error, what: string) => log.error({ err: error, what }, `${what} failed`)
    const ingest = await Ingest.open({ store, clock, keyHeaders: config.ingestKeyHeaders, onError })
    closers.add(() => ingest.stop())

    const retention = { minuteDays: config.retentionMinuteDays, hourDays: config.retentionHourDays }
    const maintenance = new Maintenance({ store, clock, retention, onError })
    maintenance.start()
    closers.add(() => maintenance.stop())

    let isStopping = false
    const loops = [...ingest.loops, ...maintenance.loops]
    const app = await buildApp({
      config,
      store,
      ingest,
      loops,
      clock,
      log,
      isStopping: () => isStopping,
      onError,
    })
    await listen(app, config)
    const stop = async (graceMs = STOP_GRACE_MS): Promise<void> => {
      isStopping = true
      // A keep-alive connection is idle only between two requests: sweep, or a busy sender keeps us open to the end.
      const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs)
      await app.close()
      clearInterval(sweep)
      clearTimeout(cut)
      await closers.closeAll()
    }
    return { address: addressOf(app.server.address()), store, ingest, stop }
  } catch (thrown) {
    await closers.closeAll()
    throw thrown
  }
}

async function listen(app: Awaited<ReturnType<typeof buildApp>>, config: Config): Promise<void> {
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (thrown) {
    const error = asError(thrown)
    const where = `HOST=${config.host} PORT=${config.port}`
    if ('code' in error && error.code === 'EADDRINUSE') {
      throw new StartupError(`${where} is in use by another program: stop it, or choose another PORT`)
    }
    throw new StartupError(`cannot listen on ${where}: ${error.message}`)
  }
}

function addressOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server has no network address')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
