import { setTimeout as sleep } from 'node:timers/promises'
import { processorSeconds } from '../../bench/lib/machine.ts'
import { packKeys } from '../../bench/lib/request-template.ts'
import { importSites } from '../../testkit/many-sites.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { type Counted, compareCounts } from '../soak/counted.ts'
import type { LoadFigures } from '../soak/load/figures.ts'
import { type Generator, startGenerator } from '../soak/load/generator.ts'
import { measurePeak, PEAK_CONNECTIONS } from '../soak/peak.ts'

export interface OverloadSettings {
  /** Measured seconds of the peak, of the calm before each overload, and of each overload. */
  peakSeconds: number
  calmSeconds: number
  seconds: number
  /** One overload for each. */
  connections: readonly number[]
  sites: number
  progress: (text: string) => void
}

/** One overload with what came before and after it. */
export interface Overload {
  connections: number
  /** At a third of the peak, before. */
  before: LoadFigures
  during: LoadFigures
  /** From the end of the overload on, until answers come as soon as before; null: not within the time that is waited. */
  recoverySeconds: number | null
  /** Processor time of the server in the overload, as a share of a core. */
  serverLoad: number
  /** Longest time that `/ready` took to answer 200, ms; null: it said something else. */
  readyMs: number | null
}

export interface OverloadResult {
  peak: number
  overloads: Overload[]
  counted: Counted
  log: string
}

const TIMES_PEAK = 3
const CALM_SHARE = 0.3
const SLOT_MS = 200
/** Slots of calm in a row that make a recovery. */
const CALM_SLOTS = 3
const RECOVERY_MS = 15_000
/** As soon as before: so many times its p99, and this much for a slot with few answers. */
const CALM_FACTOR = 2
const CALM_LEEWAY_MS = 20
const READY_INTERVAL_MS = 1_000

/** Offers three times the peak, for some seconds with each number of connections. */
export async function overload(session: Session, settings: OverloadSettings): Promise<OverloadResult> {
  const { progress } = settings
  const dataDir = session.newFolder('data')
  const sites = await importSites(dataDir, settings.sites)
  const server = await startTagwarden(session, dataDir)
  const generator = startGenerator(session)
  await generator.begin({ port: server.port, keys: packKeys(sites.map(({ ingest_key }) => ingest_key)) })
  const peak = await measurePeak(generator, settings.peakSeconds)
  progress(`the peak is ${Math.round(peak)} requests/s`)
  const overloads: Overload[] = []
  for (const connections of settings.connections) {
    const found = await overloadOnce(server, generator, { ...settings, peak, connections })
    overloads.push(found)
    progress(overloadLine(found))
  }
  const counted = await compareCounts(server.url, sites, await generator.end())
  return { peak, overloads, counted, log: server.log }
}

interface Offer {
  peak: number
  connections: number
  calmSeconds: number
  seconds: number
}

async function overloadOnce(
  server: ServerProcess,
  generator: Generator,
  { peak, connections, calmSeconds, seconds }: Offer,
): Promise<Overload> {
  const calm = { perSecond: CALM_SHARE * peak, connections: PEAK_CONNECTIONS }
  await generator.pace(calm)
  await sleep(calmSeconds * 500)
  await generator.take()
  await sleep(calmSeconds * 1_000)
  const before = await generator.take()

  await generator.pace({ perSecond: TIMES_PEAK * peak, connections })
  await generator.take()
  const processorBefore = processorSeconds(server.pid)
  const readyMs = await watchReady(server.url, seconds)
  const during = await generator.take()
  const serverLoad = (processorSeconds(server.pid) - processorBefore) / during.seconds

  await generator.pace(calm)
  const recoverySeconds = await recovery(generator, before)
  return { connections, before, during, recoverySeconds, serverLoad, readyMs }
}

/** Time from now on until answers come as soon as they did `before`, and stay so. */
async function recovery(generator: Generator, before: LoadFigures): Promise<number | null> {
  const startedAt = performance.now()
  let calmSlots = 0
  await generator.take()
  while (performance.now() - startedAt < RECOVERY_MS) {
    await sleep(SLOT_MS)
    const { acceptedFromDue, refused, givenUp } = await generator.take()
    const isSoon = acceptedFromDue.p99Ms <= CALM_FACTOR * before.acceptedFromDue.p99Ms + CALM_LEEWAY_MS
    calmSlots = isSoon && acceptedFromDue.count > 0 && refused.count + givenUp === 0 ? calmSlots + 1 : 0
    if (calmSlots === CALM_SLOTS) return Math.max(0, (performance.now() - startedAt - CALM_SLOTS * SLOT_MS) / 1_000)
  }
  return null
}

/** Asks `/ready` every second for as long as that, and gives the longest time it took; null when it was not 200. */
async function watchReady(url: string, seconds: number): Promise<number | null> {
  const end = performance.now() + seconds * 1_000
  let longest: number | null = 0
  while (performance.now() < end) {
    const askedAt = performance.now()
    const response = await fetch(`${url}/ready`)
    await response.text()
    longest = response.status !== 200 || longest === null ? null : Math.max(longest, performance.now() - askedAt)
    await sleep(Math.max(0, Math.min(end, askedAt + READY_INTERVAL_MS) - performance.now()))
  }
  return longest
}

function overloadLine({ connections, before, during, recoverySeconds, serverLoad }: Overload): string {
  return [
    `${connections} connections: ${Math.round(during.accepted.count / during.seconds)} accepted/s`,
    `p99 ${Math.round(during.accepted.p99Ms)} ms (${Math.round(before.accepted.p99Ms)} ms before)`,
    `${Math.round(during.refused.count / during.seconds)} refused/s, p99 ${Math.round(during.refused.p99Ms)} ms`,
    JSON.stringify(during.statuses),
    `${during.unanswered} unanswered, ${during.givenUp} given up`,
    `recovered after ${recoverySeconds?.toFixed(1) ?? '–'} s`,
    `server ${serverLoad.toFixed(2)}, generator ${during.generatorLoad.toFixed(2)} of a core`,
  ].join(', ')
}
