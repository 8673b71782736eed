import { setTimeout as sleep } from 'node:timers/promises'
import { packKeys } from '../../bench/lib/request-template.ts'
import { importProbes, importSites } from '../../testkit/many-sites.ts'
import { type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { type Alerting, type Breaks, breakInTurns, settledAlerting } from './alerting.ts'
import { type Counted, compareCounts } from './counted.ts'
import { startEnvironment } from './environment/environment.ts'
import { GROUPS, targetPath, WEBHOOK_PATH } from './environment/targets.ts'
import type { EnvironmentFigures } from './environment/worker.ts'
import type { LoadFigures } from './load/figures.ts'
import { startGenerator } from './load/generator.ts'
import { measurePeak, PEAK_SECONDS } from './peak.ts'
import { readService, type ServiceFigures } from './service-figures.ts'

export interface SoakSettings extends Breaks {
  /** How often is looked at everything. */
  sampleSeconds: number
  /** Requests a second; null: half of the peak, which is measured first. */
  perSecond: number | null
  /** Sites that are probed; the first of them also get the load. */
  sites: number
  loadedSites: number
  connections: number
  probeSeconds: number
  reportsPerSecond: number
  progress: (text: string) => void
}

export interface Sample {
  /** Time since the start of the load, s. */
  at: number
  load: LoadFigures
  service: ServiceFigures
  around: EnvironmentFigures
}

export interface SoakResult {
  /** Requests a second; null when it was not measured. */
  peak: number | null
  perSecond: number
  samples: Sample[]
  counted: Counted
  alerting: Alerting
  /** Messages that the webhook received. */
  messages: number
  /** What the service wrote to its log; '' for nothing. */
  log: string
}

/** The load's part of the peak. */
const SHARE_OF_PEAK = 0.5

/** Half of what the service can take, for long, with everything else that it does beside it. */
export async function soak(session: Session, settings: SoakSettings): Promise<SoakResult> {
  const { progress, loadedSites, seconds, sampleSeconds } = settings
  const environment = startEnvironment(session)
  const dataDir = session.newFolder('data')
  const sites = await importSites(dataDir, settings.sites)
  const neighbours = await environment.listen()
  await importProbes(dataDir, {
    intervalSeconds: settings.probeSeconds,
    targetOf: (index) => neighbours + targetPath(index % GROUPS),
    isSpread: true,
    webhook: neighbours + WEBHOOK_PATH,
  })
  const server = await startTagwarden(session, dataDir, { OUTBOUND_ALLOW: '127.0.0.0/8' })
  const loaded = sites.slice(0, loadedSites)
  const generator = startGenerator(session)
  await generator.begin({ port: server.port, keys: packKeys(loaded.map(({ ingest_key }) => ingest_key)) })
  const peak = settings.perSecond === null ? await measurePeak(generator, PEAK_SECONDS) : null
  const perSecond = settings.perSecond ?? Math.round((peak ?? 0) * SHARE_OF_PEAK)
  progress(`${perSecond} requests/s${peak === null ? '' : `, the peak is ${Math.round(peak)}`}`)
  const siteIds = loaded.map(({ id }) => id)
  await environment.read({ serverUrl: server.url, siteIds, reportsPerSecond: settings.reportsPerSecond })
  await generator.pace({ perSecond, connections: settings.connections })
  // What was gathered until here belongs to the peak.
  await generator.take()
  await readService(server, dataDir)

  let { messages } = await environment.take()
  const samples: Sample[] = []
  const startedAt = performance.now()
  const breaking = breakInTurns(environment, settings)
  for (let at = sampleSeconds; at <= seconds; at += sampleSeconds) {
    await sleep(Math.max(0, startedAt + at * 1_000 - performance.now()))
    const load = await generator.take()
    const sample = { at, load, service: await readService(server, dataDir), around: await environment.take() }
    samples.push(sample)
    messages += sample.around.messages
    progress(sampleLine(sample))
  }
  await breaking
  const totals = await generator.end()
  const alerting = await settledAlerting(server.url)
  await environment.end()
  messages += (await environment.take()).messages
  const counted = await compareCounts(server.url, loaded, totals)
  return { peak, perSecond, samples, counted, alerting, messages, log: server.log }
}

function sampleLine({ at, load, service, around }: Sample): string {
  return [
    `${at} s: ${Math.round(load.accepted.count / load.seconds)} requests/s`,
    `p99 ${load.acceptedFromDue.p99Ms.toFixed(1)} ms`,
    `${Math.round(service.memoryMb)} MB`,
    `event loop p99 ${service.loopDelayMs.toFixed(1)} ms`,
    `${around.probed} probed, ${around.messages} messages, ${around.reports} reports, ${around.streamed} on the stream`,
    ...around.failures,
  ].join(', ')
}
