import { setTimeout as sleep } from 'node:timers/promises'
import type { SiteKey } from '../../../testkit/api.ts'
import { createSites, importSites } from '../../../testkit/many-sites.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import type { ServerProcess } from '../../../testkit/processes/server-process.ts'
import { startTagwarden } from '../../../testkit/processes/session.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { startBare } from '../../lib/servers.ts'
import { grouped } from '../../lib/table.ts'
import { atLeastRatio, compare } from '../compare.ts'
import { type Bench, runLoadOnce, runRounds } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const MOST_THROUGH_API = 1_000

/** A busy node folds what a site sent up to half a minute later: a shorter load would leave that out of its rate. */
const LEAST_SECONDS = 30
/** So that every site has sent something before anything is measured: its first event of the day costs more than the others, ms. */
const FIRST_EVENTS_MS = 30_000
const LOOK_AGAIN_MS = 500

/** The sites take turns, one request each. */
export function manySites(count: number, targetRatio: number): Scenario {
  return async (bench) => {
    const bare = await startBare(bench.session)
    const { server, sites } = await startWithSites(bench, count)
    const load = { request: ingestRequest(eventBody()), keys: packKeys(sites.map((site) => site.ingest_key)) }
    const tagwarden = { ...load, server, done: () => untilFolded(server) }
    if (count > MOST_THROUGH_API) await runLoadOnce(bench, tagwarden, FIRST_EVENTS_MS)
    const patient = { ...bench, seconds: Math.max(bench.seconds, LEAST_SECONDS) }
    const results = await runRounds(patient, { bare: { ...load, server: bare }, tagwarden })
    return compare(`${grouped(count)} sites`, results.bare, results.tagwarden, atLeastRatio(targetRatio))
  }
}

/** Nothing accepted waits for its fold any more. */
async function untilFolded({ url }: ServerProcess): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text()
    const lag = /^tagwarden_fold_lag_seconds\S* (\S+)$/m.exec(text)?.[1]
    if (lag === undefined) throw new Error('the server does not say how far its folds are behind')
    if (Number(lag) === 0) return
    await sleep(LOOK_AGAIN_MS)
  }
}

async function startWithSites(bench: Bench, count: number): Promise<{ server: ServerProcess; sites: SiteKey[] }> {
  const dataDir = bench.session.newFolder('data')
  if (count <= MOST_THROUGH_API) {
    const server = await startTagwarden(bench.session, dataDir)
    return { server, sites: await createSites(server.url, count) }
  }
  const sites = await importSites(dataDir, count)
  return { server: await startTagwarden(bench.session, dataDir), sites }
}
