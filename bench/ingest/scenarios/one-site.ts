import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient } from '../../../testkit/api.ts'
import { createSite } from '../../../testkit/many-sites.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import { startTagwarden } from '../../../testkit/processes/session.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { startBare } from '../../lib/servers.ts'
import { acceptedOf } from '../../lib/statistics.ts'
import { type Check, grouped } from '../../lib/table.ts'
import { atLeastRatio, compare } from '../compare.ts'
import { runRounds } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

/** Counts are to be visible 2 s after the answer; a loaded machine gets some more. */
const VISIBLE_TIMEOUT_MS = 10_000
const POLL_INTERVAL_MS = 250

/** All load on one site, and afterwards: is every acknowledged event counted, and counted once? */
export const oneSite: Scenario = async (bench) => {
  const { session } = bench
  const bare = await startBare(session)
  const tagwarden = await startTagwarden(session, session.newFolder('data'))
  const site = await createSite(tagwarden.url, { name: 'One site' })
  const load = { request: ingestRequest(eventBody()), keys: packKeys([site.ingest_key]) }
  const results = await runRounds(bench, { bare: { ...load, server: bare }, tagwarden: { ...load, server: tagwarden } })
  const outcome = compare('one site', results.bare, results.tagwarden, atLeastRatio(0.8))
  const count = await checkCount(() => apiClient(tagwarden.url).totalEvents(site, 24), acceptedOf(results.tagwarden))
  return { measurements: outcome.measurements, checks: [...outcome.checks, count] }
}

async function checkCount(count: () => Promise<number>, acknowledged: number): Promise<Check> {
  const deadline = Date.now() + VISIBLE_TIMEOUT_MS
  let counted = 0
  do {
    await sleep(POLL_INTERVAL_MS)
    counted = await count()
  } while (counted !== acknowledged && Date.now() < deadline)
  return {
    what: 'one site: events in the overview',
    value: grouped(counted),
    target: `${grouped(acknowledged)} acknowledged`,
    reached: counted === acknowledged,
  }
}
