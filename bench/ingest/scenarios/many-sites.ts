import type { SiteKey } from '../../../testkit/api.ts'
import { createSites, importSites } from '../../../testkit/many-sites.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import type { ServerProcess } from '../../../testkit/processes/server-process.ts'
import { startTagwarden } from '../../../testkit/processes/session.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { startBare } from '../../lib/servers.ts'
import { grouped } from '../../lib/table.ts'
import { atLeastRatio, compare } from '../compare.ts'
import { type Bench, runRounds } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const MOST_THROUGH_API = 1_000

/** The sites take turns, one request each. */
export function manySites(count: number, targetRatio: number): Scenario {
  return async (bench) => {
    const bare = await startBare(bench.session)
    const { server, sites } = await startWithSites(bench, count)
    const load = { request: ingestRequest(eventBody()), keys: packKeys(sites.map((site) => site.ingest_key)) }
    const results = await runRounds(bench, { bare: { ...load, server: bare }, tagwarden: { ...load, server } })
    return compare(`${grouped(count)} sites`, results.bare, results.tagwarden, atLeastRatio(targetRatio))
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
