import { overviewPath } from '../../../testkit/api.ts'
import { importSites } from '../../../testkit/many-sites.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import { startTagwarden } from '../../../testkit/processes/session.ts'
import { readReports } from '../../lib/clients.ts'
import { importHistory } from '../../lib/history.ts'
import type { ReportResult } from '../../lib/report-reader.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { startBare } from '../../lib/servers.ts'
import { median, medianOf } from '../../lib/statistics.ts'
import { milliseconds } from '../../lib/table.ts'
import { compare } from '../compare.ts'
import { runRounds, WARMUP_MS } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const SITES = 5
const HOURS = 720
const MOST_TIMES_SLOWER = 2

/** One site under load while a client reads 30-day overviews without a pause, of it and of others with as long a past. */
export const reader: Scenario = async (bench) => {
  const { session } = bench
  const dataDir = session.newFolder('data')
  const sites = await importSites(dataDir, SITES)
  await importHistory(dataDir, (done, all) => bench.progress(`wrote the past of site ${done} of ${all}`))
  const bare = await startBare(session)
  const tagwarden = await startTagwarden(session, dataDir)
  const reports: ReportResult[] = []
  const read = async (): Promise<void> => {
    const urls = sites.map((site) => tagwarden.url + overviewPath(site, HOURS))
    reports.push(await readReports(session, { urls, warmupMs: WARMUP_MS, measureMs: bench.seconds * 1_000 }))
  }
  const load = { request: ingestRequest(eventBody()), keys: packKeys(sites.slice(0, 1).map((site) => site.ingest_key)) }
  const results = await runRounds(bench, {
    bare: { ...load, server: bare },
    alone: { ...load, server: tagwarden },
    beside: { ...load, server: tagwarden, meanwhile: read },
  })
  const aloneP99 = medianOf(results.alone, (result) => result.p99Ms)
  const outcome = compare('one site beside a report reader', results.bare, results.beside, {
    text: `p99 ≤ ${MOST_TIMES_SLOWER} × ${milliseconds(aloneP99)} without`,
    isReached: (measured) => measured.p99Ms <= MOST_TIMES_SLOWER * aloneP99,
  })
  const wasRead = {
    what: '30-day overviews read beside the load',
    value: `${reports.reduce((sum, { reports: count }) => sum + count, 0)}, p50 ${milliseconds(median(reports.map((report) => report.p50Ms)))}`,
    target: 'at least one',
    reached: reports.every((report) => report.reports > 0),
  }
  return { measurements: outcome.measurements, checks: [...outcome.checks, wasRead] }
}
