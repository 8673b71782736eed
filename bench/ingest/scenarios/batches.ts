import { createSite } from '../../../testkit/many-sites.ts'
import { batchBody, EVENTS_PER_BATCH } from '../../../testkit/payloads.ts'
import { startTagwarden } from '../../../testkit/processes/session.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { startBare } from '../../lib/servers.ts'
import { medianOf } from '../../lib/statistics.ts'
import { grouped } from '../../lib/table.ts'
import { compare } from '../compare.ts'
import { runRounds } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const TARGET_EVENTS_PER_SECOND = 1_000_000

/** Batched bodies, each of which reports 200 events. */
export const batches: Scenario = async (bench) => {
  const { session } = bench
  const bare = await startBare(session)
  const tagwarden = await startTagwarden(session, session.newFolder('data'))
  const site = await createSite(tagwarden.url, { name: 'Batches' })
  const load = { request: ingestRequest(batchBody()), keys: packKeys([site.ingest_key]) }
  const results = await runRounds(bench, { bare: { ...load, server: bare }, tagwarden: { ...load, server: tagwarden } })
  const perSecond = medianOf(results.tagwarden, (result) => result.requestsPerSecond) * EVENTS_PER_BATCH
  return compare(`batches of ${EVENTS_PER_BATCH}`, results.bare, results.tagwarden, {
    text: `≥ ${grouped(TARGET_EVENTS_PER_SECOND)} events/s (${grouped(perSecond)})`,
    isReached: () => perSecond >= TARGET_EVENTS_PER_SECOND,
  })
}
