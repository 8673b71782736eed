import type { Config } from '../../config.ts'
import { type Clock, DAY, floorTo, HOUR, isoTime, MINUTE } from '../../lib/index.ts'
import { startService } from '../../main.ts'
import { migrate, openSqliteStore } from '../../store/index.ts'
import { createLog } from '../log.ts'
import { withProgress } from '../progress.ts'
import { stopOnSignals } from '../signals.ts'
import { folderFor, gapsOf, type SiteGap, settle, writeHistory } from './history.ts'
import { type Incident, incidentsAround } from './incidents.ts'
import { type Results, writeResultHistory } from './results.ts'
import { Simulator } from './simulator.ts'
import { ensureDemoSites } from './sites.ts'
import { allowingTagServer } from './tag-server.ts'
import { tourLines } from './tour.ts'
import { SITES } from './world/sites.ts'

export interface DemoOptions {
  config: Config
  clock: Clock
  days: number
  seed: string
  simulate: boolean
}

/**
 * Fills the store, serves it, and sends on until a signal comes.
 *
 * @throws StartupError when the store is not the demo's, or the service cannot start
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { config, clock, seed } = options
  const start = floorTo(clock.now(), MINUTE)
  const incidents = incidentsAround(start)
  const { gaps, tagServer } = await prepareStore(options, incidents, start)

  const log = createLog(config)
  const service = await startService({ config: allowingTagServer(config, tagServer.url), clock, log }).catch(
    async (thrown: unknown) => {
      await tagServer.close()
      throw thrown
    },
  )
  const simulator = options.simulate
    ? new Simulator({
        sites: gaps,
        incidents,
        seed,
        fromOf: new Map(gaps.map(({ row, from }) => [row.site_no, Math.max(from, start)])),
        endpoint: `${service.address}/ingest`,
        keyHeader: config.ingestKeyHeaders[0] ?? 'x-service-key',
        clock,
        log,
      })
    : undefined
  stopOnSignals(async () => {
    await simulator?.stop()
    await service.stop()
    await tagServer.close()
  }, log)
  log.info(`Tagwarden is ready on ${service.address}`)
  for (const line of tourLines(service.address, gaps, incidents, start)) console.log(line)
}

interface Prepared extends Pick<Results, 'tagServer'> {
  gaps: readonly SiteGap[]
}

/** Before the service opens it: the history is written in bulk, and nobody waits behind it. */
async function prepareStore(
  { config, clock, days, seed }: DemoOptions,
  incidents: readonly Incident[],
  start: number,
): Promise<Prepared> {
  const { dataDir } = config
  const retention = { minuteDays: config.retentionMinuteDays, hourDays: config.retentionHourDays }
  const store = await openSqliteStore(dataDir)
  try {
    await migrate(store.write, store.columnTypes)
    const earliest = start - days * DAY
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
      await withProgress('rolling up', buckets, (update) => settle(store, retention, clock.now(), update))
    }
    const { tagServer, probes, results } = await writeResultHistory({
      ...{ store, config, clock, incidents, earliest, start },
      sites: gaps,
    })
    const written = `${events} events of ${gaps.length} sites and ${results} results of ${probes} probes`
    console.log(`${written} since ${isoTime(first)} written to ${dataDir}`)
    return { gaps, tagServer }
  } finally {
    await store.close()
  }
}
