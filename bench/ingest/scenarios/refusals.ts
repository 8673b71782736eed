import { newSecret } from '../../../src/lib/index.ts'
import { apiClient } from '../../../testkit/api.ts'
import { createSite } from '../../../testkit/many-sites.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import type { ServerProcess } from '../../../testkit/processes/server-process.ts'
import { startTagwarden } from '../../../testkit/processes/session.ts'
import { ingestRequest, packKeys, type RequestTemplate } from '../../lib/request-template.ts'
import { median, medianOf, shareOfStatus } from '../../lib/statistics.ts'
import type { Check } from '../../lib/table.ts'
import { heldUploads } from '../held-uploads.ts'
import { type Load, type RoundResult, runRounds } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const OVERSIZED = 1_048_577
/** A limited client gets a request through now and then. */
const LEAST_SHARE_REFUSED = 0.99

/**
 * Is a refusal cheaper than a success? What counts is the server's processor time for it, which other work on the machine
 * changes much less than requests/s. An answer of 413 ends its connection, so it is measured against successes that each
 * end theirs too.
 */
export const refusals: Scenario = async (bench) => {
  const { session } = bench
  const server = await startTagwarden(session, session.newFolder('data'))
  const keys = await keysByAnswer(server)
  const event = ingestRequest(eventBody())
  const lastEvent = ingestRequest(eventBody(), { lastOfConnection: true })
  const oversized = ingestRequest(eventBody(), { lastOfConnection: true, declaredLength: OVERSIZED })
  const load = (key: string, request: RequestTemplate = event): Load => ({ server, request, keys: packKeys([key]) })
  const results = await runRounds(bench, {
    accepted: load(keys.accepted),
    unauthorized: load(keys.unauthorized),
    forbidden: load(keys.forbidden),
    limited: load(keys.limited),
    acceptedAlone: { ...load(keys.accepted, lastEvent), connectionPerRequest: true },
    tooLarge: { ...load(keys.accepted, oversized), connectionPerRequest: true },
  })
  const checks = [
    cheaper(401, results.unauthorized, results.accepted),
    cheaper(403, results.forbidden, results.accepted),
    cheaper(429, results.limited, results.accepted),
    cheaper(413, results.tooLarge, results.acceptedAlone),
    ...(await heldUploads(server, keys.unauthorized)),
  ]
  return { measurements: [], checks }
}

async function keysByAnswer(server: ServerProcess) {
  const accepted = await createSite(server.url, { name: 'Accepted' })
  const forbidden = await createSite(server.url, { name: 'Disabled' })
  await apiClient(server.url).ask('PATCH', `/api/sites/${forbidden.id}`, { is_active: false })
  const limited = await createSite(server.url, { name: 'Limited', requests_per_second: 1 })
  return {
    accepted: accepted.ingest_key,
    forbidden: forbidden.ingest_key,
    limited: limited.ingest_key,
    unauthorized: newSecret(),
  }
}

function cheaper(status: number, refused: readonly RoundResult[], accepted: readonly RoundResult[]): Check {
  const ratio = median(refused.map((result, round) => result.processorMicros / (accepted[round]?.processorMicros ?? 0)))
  const micros = medianOf(refused, (result) => result.processorMicros)
  const share = shareOfStatus(refused, status)
  const notAll = share < LEAST_SHARE_REFUSED ? `, but only ${(share * 100).toFixed(1)} % were ${status}` : ''
  return {
    what: `processor time of a ${status} answer`,
    value: `${ratio.toFixed(2)} × that of a 200 (${micros.toFixed(1)} µs)${notAll}`,
    target: '< 1 ×',
    reached: ratio < 1 && notAll === '' && shareOfStatus(accepted, 200) === 1,
  }
}
