import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryIfAlive } from '../../bench/lib/machine.ts'
import { startMeasuredPostgres } from '../../bench/lib/postgres.ts'
import { packKeys } from '../../bench/lib/request-template.ts'
import { apiClient, overviewPath, type SiteKey } from '../../testkit/api.ts'
import { createSite, createSites } from '../../testkit/many-sites.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { type Counted, compareCounts } from '../soak/counted.ts'
import type { LoadFigures } from '../soak/load/figures.ts'
import { startGenerator } from '../soak/load/generator.ts'
import { type Healthy, watchInParts } from './healthy.ts'
import type { HostileCalls, HostileResult } from './hostile-worker.ts'
import { AHEAD_MS, hostileKinds, UNREAD_REPORTS } from './kinds.ts'
import type { HostilePlan } from './together.ts'
import { type Visibility, watchVisibility } from './visibility.ts'

export type Engine = 'sqlite' | 'postgres'

export interface FairnessSettings {
  engine: Engine
  /** Of each kind of hostile sender, and of the healthy ones alone before and after. */
  seconds: number
  /** Names of the kinds to try; all of them when absent. */
  kinds?: readonly string[]
  progress: (text: string) => void
}

/** The healthy sites beside one kind of hostile sender, or alone. */
export interface FairnessRow {
  name: string
  healthy: Healthy
  visibility: Visibility
  /** Null while the healthy sites are alone. */
  hostile: HostileResult | null
  /** Highest resident memory of the service, MB. */
  peakMb: number
}

export interface FairnessResult {
  engine: Engine
  rows: FairnessRow[]
  /** Of the nine healthy sites. */
  counted: Counted
  /** Events of the hostile site: acknowledged, those whose answer is unknown, and what its report shows. */
  hostileCounted: { accepted: number; doubtful: number; counted: number }
  log: string
}

export const ALONE = 'alone'

const HEALTHY_SITES = 9
/** What nine shops send in a busy hour. */
const HEALTHY_PER_SECOND = 200
const HEALTHY_CONNECTIONS = 32
const MEMORY_INTERVAL_MS = 250
const SHOWN_INTERVAL_MS = 500
/** Time between two kinds in which what the last one left is settled: as long as one of them, at most this. */
const SETTLE_MS = 5_000

/** Nine healthy sites and one with a valid key that sends each kind of hostile request in turn. */
export async function fairness(session: Session, settings: FairnessSettings): Promise<FairnessResult> {
  // Not on the service's core: who has many senders gives the database a machine of its own.
  const postgres = settings.engine === 'postgres' ? await startMeasuredPostgres(null) : null
  try {
    const environment = postgres === null ? {} : { DATABASE_URL: postgres.url }
    const server = await startTagwarden(session, session.newFolder('data'), environment)
    return await runAll(session, server, settings)
  } finally {
    await postgres?.stop()
  }
}

async function runAll(
  session: Session,
  server: ServerProcess,
  { engine, seconds, kinds, progress }: FairnessSettings,
): Promise<FairnessResult> {
  const settleMs = Math.min(SETTLE_MS, seconds * 1_000)
  const isTried = (name: string) => kinds?.includes(name) ?? true
  const sites = await createSites(server.url, HEALTHY_SITES)
  const [watched] = await createSites(server.url, 1)
  // The largest fixed plan: 500 requests a second.
  const hostile = await createSite(server.url, { name: 'Hostile', plan: 'business' })
  if (watched === undefined) throw new Error('a site is missing')
  const generator = startGenerator(session)
  await generator.begin({ port: server.port, keys: packKeys(sites.map(({ ingest_key }) => ingest_key)) })
  await generator.pace({ perSecond: HEALTHY_PER_SECOND, connections: HEALTHY_CONNECTIONS })
  // The first seconds of a process are slower than all others.
  await sleep(settleMs)

  const rows: FairnessRow[] = []
  const measure = async (name: string, attack: () => Promise<HostileResult | null>) => {
    await sleep(settleMs)
    await generator.take()
    const row = await beside(server, watched, name, seconds, attack, () => generator.take())
    rows.push(row)
    progress(rowLine(row))
  }
  const sender = session.startWorker<HostileCalls>('hostile', join(import.meta.dirname, 'hostile-worker.ts'))
  const alone = async () => {
    await sleep(seconds * 1_000)
    return null
  }
  const totals = { accepted: 0, doubtful: 0 }
  await measure(ALONE, alone)
  for (const [seed, { name }] of hostileKinds.entries()) {
    if (!isTried(name)) continue
    await measure(name, async () => {
      const plan: HostilePlan = { url: server.url, key: hostile.ingest_key, kind: name, seconds, seed }
      const result = await sender.send(plan)
      totals.accepted += result.acceptedEvents
      totals.doubtful += result.doubtfulEvents
      return result
    })
  }
  if (isTried(UNREAD_REPORTS)) {
    await measure(UNREAD_REPORTS, async () => {
      await sender.leaveUnread({ port: server.port, path: overviewPath(hostile, 48), seconds })
      return null
    })
  }
  await measure(ALONE, alone)

  const counted = await compareCounts(server.url, sites, await generator.end())
  const shown = await totalInTime(server.url, hostile, totals.accepted)
  return { engine, rows, counted, hostileCounted: { ...totals, counted: shown }, log: server.log }
}

/** The events that a site's report shows. What was stamped ahead shows when its time has come. */
async function totalInTime(url: string, site: SiteKey, accepted: number): Promise<number> {
  const end = Date.now() + AHEAD_MS
  for (;;) {
    const shown = await apiClient(url).totalEvents(site, 48)
    if (shown >= accepted || Date.now() > end) return shown
    await sleep(SHOWN_INTERVAL_MS)
  }
}

async function beside(
  server: ServerProcess,
  watched: SiteKey,
  name: string,
  seconds: number,
  attack: () => Promise<HostileResult | null>,
  take: () => Promise<LoadFigures>,
): Promise<FairnessRow> {
  let peakMb = 0
  const memory = setInterval(() => {
    peakMb = Math.max(peakMb, memoryIfAlive(server.pid))
  }, MEMORY_INTERVAL_MS)
  const end = new AbortController()
  const watching = watchVisibility(server.url, watched, end.signal)
  try {
    const { healthy, result: hostile } = await watchInParts(seconds, attack(), take)
    end.abort()
    return { name, healthy, visibility: await watching, hostile, peakMb }
  } finally {
    clearInterval(memory)
    end.abort()
    // After an error of the attack that of the watcher, whose server is gone, adds nothing.
    await watching.catch(() => undefined)
  }
}

function rowLine({ name, healthy, visibility, hostile, peakMb }: FairnessRow): string {
  return [
    `${name}: p50 ${healthy.p50Ms.toFixed(1)} ms, p99 ${healthy.p99Ms.toFixed(1)} ms`,
    `visible after ${Math.round(visibility.longestMs)} ms`,
    `${Math.round(peakMb)} MB`,
    JSON.stringify(healthy.statuses),
    ...(hostile === null ? [] : [`hostile ${JSON.stringify(hostile.statuses)}`]),
  ].join(', ')
}
