import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { type Clock, DAY, floorTo, HOUR, isoTime, MINUTE, SECOND, StartupError } from '../../lib/index.ts'
import { requireFreePort, startService } from '../../main.ts'
import { connectWithoutThread, migrate, openSqliteStore, type SqliteOptions, StoreError } from '../../store/index.ts'
import { createLog, stopOnSignals } from '../process.ts'
import { withProgress } from '../progress.ts'
import {
  folderFor,
  gapsOf,
  type HistoryOptions,
  type SiteGap,
  settle,
  writeDemoReferences,
  writeHistory,
} from './history.ts'
import { type Incident, incidentsAround } from './incidents.ts'
import { historyBegin } from './profile.ts'
import { type Results, writeResultHistory } from './results.ts'
import { Simulator } from './simulator.ts'
import { ACTOR, type DemoSite, ensureDemoSites } from './sites.ts'
import { allowingTagServer } from './tag-server.ts'
import { SITES } from './world.ts'

export interface DemoOptions {
  config: Config
  clock: Clock
  days: number
  seed: string
  simulate: boolean
  /** Opens a connection of the service to the database, by default in a thread. */
  connect?: NonNullable<SqliteOptions['connect']>
}

/**
 * Fills the store, serves it, and sends live traffic until a signal comes.
 *
 * @throws StartupError when the store is not the demo's, or the service cannot start
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  // The service would say so only after the history is written, which may take minutes.
  await requireFreePort(options.config)
  const prepared = await prepareDemo(options)
  const log = await createLog(options.config)
  const demo = await serveDemo(options, prepared, log)
  stopOnSignals(demo.stop, log)
  log.info(`Tagwarden is ready on ${demo.address}`)
  const { gaps, incidents, start, chat, tagServer } = prepared
  const chatPage = chat.pageUrl(tagServer.url)
  for (const line of tourLines({ address: demo.address, chatPage, sites: gaps, incidents, now: start })) {
    console.log(line)
  }
}

export interface PreparedDemo extends Pick<Results, 'tagServer' | 'chat'> {
  gaps: readonly SiteGap[]
  incidents: readonly Incident[]
  /** Start of the preparation, and end of the history; epoch ms. */
  start: number
  filledTo: number
}

/**
 * Fills the store before the service opens it: the history is written in bulk, and no request has to wait behind it.
 *
 * @throws StartupError when the store is not the demo's, or cannot be written, as on a full disk
 */
export async function prepareDemo({ config, clock, days, seed }: DemoOptions): Promise<PreparedDemo> {
  const { dataDir } = config
  const retention = { minuteDays: config.retentionMinuteDays, hourDays: config.retentionHourDays }
  const start = floorTo(clock.now(), MINUTE)
  const incidents = incidentsAround(start)
  // Commits need not wait for the disk: what is lost in a power failure, the next start writes again.
  const connect: typeof connectWithoutThread = (options) => connectWithoutThread({ ...options, isRepeatable: true })
  const store = await openSqliteStore(dataDir, { connect })
  try {
    await migrate(store.write, store.columnTypes)
    const earliest = historyBegin(start, days)
    const sites = await ensureDemoSites(store, { now: () => earliest }, dataDir, SITES)
    const folder = await folderFor(store)
    const gaps = await gapsOf(store, sites, earliest)
    const first = Math.min(...gaps.map(({ from }) => from))
    let events = 0
    if (first < start) {
      events = await withProgress('writing history', start - first, (update) =>
        writeHistory({ folder, gaps, incidents, seed, retention, to: start }, (filled) => update(filled - first)),
      )
      const buckets = gaps.length * Math.ceil((start - first) / HOUR + (start - first) / DAY)
      await withProgress('rolling up', buckets, (update) => settle(store, clock.now(), update))
    }
    await writeDemoReferences({ store, clock, actor: ACTOR }, sites, { from: first, to: start })
    const { tagServer, chat, probes, results } = await writeResultHistory({
      ...{ store, config, clock, incidents, earliest, start },
      sites: gaps,
    })
    const bridge = await bridgeToNow({ folder, gaps, incidents, seed, retention }, start, clock).catch(
      async (thrown: unknown) => {
        await tagServer.close()
        throw thrown
      },
    )
    const written = `${events + bridge.events} events of ${gaps.length} sites and ${results} results of ${probes} probes`
    console.log(`${written} since ${isoTime(first)} written to ${dataDir}`)
    return { gaps, incidents, start, filledTo: bridge.to, tagServer, chat }
  } catch (thrown) {
    throw thrown instanceof StoreError ? new StartupError(`${dataDir} cannot be filled: ${thrown.message}`) : thrown
  } finally {
    await store.close()
  }
}

/** A gap shorter than this is no longer than a commit, so it may remain, ms. */
const BRIDGED_MS = SECOND
/** Maximum number of rounds; each fills the time that the one before took. */
const BRIDGE_ROUNDS = 10

/**
 * Writes the traffic of the time in which the history was written, minutes on a slow machine. Without it, the first probes would find
 * a gap and open unexplained alerts.
 *
 * @returns the time up to which there are counts, epoch ms
 */
async function bridgeToNow(
  history: Omit<HistoryOptions, 'to'>,
  from: number,
  clock: Clock,
): Promise<{ to: number; events: number }> {
  let [to, events] = [from, 0]
  for (let round = 0; round < BRIDGE_ROUNDS && clock.now() - to > BRIDGED_MS; round += 1) {
    const now = clock.now()
    const gaps = history.gaps.map((gap) => ({ ...gap, from: Math.max(gap.from, to) }))
    events += await writeHistory({ ...history, gaps, to: now }, () => undefined)
    to = now
  }
  return { to, events }
}

/** Serves the prepared store and sends live traffic from where the history ends. */
export async function serveDemo(
  { config, clock, seed, simulate, connect }: DemoOptions,
  { gaps, incidents, filledTo, tagServer, chat }: PreparedDemo,
  log: Logger,
): Promise<{ address: string; stop: () => Promise<void> }> {
  const service = await startService({
    config: allowingTagServer(config, tagServer.url),
    clock,
    log,
    ...(connect !== undefined && { open: ({ dataDir }, _, onDeath) => openSqliteStore(dataDir, { connect, onDeath }) }),
  }).catch(async (thrown: unknown) => {
    await tagServer.close()
    throw thrown
  })
  const { address } = service
  chat.leadTo(config.publicUrl ?? address)
  const simulator = simulate
    ? new Simulator({
        ...{ sites: gaps, incidents, seed, clock, log },
        fromOf: new Map(gaps.map(({ row, from }) => [row.site_no, Math.max(from, filledTo)])),
        endpoint: `${address}/ingest`,
        keyHeader: config.ingestKeyHeaders[0] ?? 'x-service-key',
      })
    : undefined
  const stop = async (): Promise<void> => {
    await simulator?.stop()
    await service.stop()
    await tagServer.close()
  }
  return { address, stop }
}

interface Tour {
  /** Address of the service. */
  address: string
  /** Address of the page that shows the messages to clients. */
  chatPage: string
  sites: readonly DemoSite[]
  incidents: readonly Incident[]
  now: number
}

/** Where to look first, for someone who sees Tagwarden for the first time. */
function tourLines({ address, chatPage, sites, incidents, now }: Tour): string[] {
  return [
    '',
    'The dashboard:',
    `  ${address}/`,
    ...sites.flatMap(({ profile, row }) => {
      const current = incidents.filter(({ site, from, to }) => site === profile && from <= now && now < to)
      return [
        `${profile.name} (${profile.client.name}, ${profile.timezone}, ${sendModeOf(profile.batchSize)}):`,
        `  ${address}/sites/${row.id}`,
        ...current.flatMap((incident) => [`  now: ${describe(incident)}`, `  ${address}/incidents`]),
      ]
    }),
    'Notifications to clients, in the chat of the demo:',
    `  ${chatPage}`,
    'Every endpoint:',
    `  ${address}/api/docs`,
    ...clicks({ address, chatPage, sites }),
    '',
  ]
}

/** Five things to click, the most important use first. */
function clicks({ address, chatPage, sites }: Pick<Tour, 'address' | 'chatPage' | 'sites'>): string[] {
  const [first] = sites
  const steps = [
    `Open the incident at the top of ${address}/incidents: what is lost, since when, and the likely cause.`,
    'Press Acknowledge there, then see in the timeline who was notified and when.',
    `Read what the client got: ${chatPage}`,
    `Open ${address}/tags and choose a vendor: on which sites it fails, hour by hour.`,
    ...(first === undefined
      ? []
      : [`See how a site of your own is connected, step by step: ${address}/sites/${first.row.id}/setup`]),
  ]
  return ['', 'What to click, in five minutes:', ...steps.map((step, index) => `  ${index + 1}. ${step}`)]
}

const sendModeOf = (batchSize: number | null): string =>
  batchSize === null ? 'one request per event' : `batches of ${batchSize} events`

function describe(incident: Incident): string {
  const since = `since ${isoTime(incident.from)}`
  switch (incident.kind) {
    case 'tag fails':
      return `${incident.tag} fails on about ${Math.round(incident.share * 100)} % of ${incident.on === 'every event' ? 'its' : incident.on} events ${since}`
    case 'tag does not fire':
      return `${incident.tag} does not fire ${since}`
    case 'vendor refuses':
      return `${incident.tag} is refused on about ${Math.round(incident.share * 100)} % of its executions ${since}`
    case 'consent is not updated':
      return `no choice follows the consent default ${since}`
    case 'purchases come twice':
      return `purchases come twice ${since}`
    case 'transaction ids are lost':
      return `transaction ids are missing ${since}`
    case 'nothing arrives':
      return `nothing arrives ${since}`
  }
}
