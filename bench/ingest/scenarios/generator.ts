import { eventBody } from '../../../testkit/payloads.ts'
import { ingestRequest, KEY_LENGTH } from '../../lib/request-template.ts'
import { startAnswerer, startBare } from '../../lib/servers.ts'
import { median, medianOf, ratiosOf } from '../../lib/statistics.ts'
import { grouped } from '../../lib/table.ts'
import { runRounds } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const MARGIN = 1.25

/** How fast the load generator is itself: were it near the bare server's speed, every ratio would be too good. */
export const generator: Scenario = async (bench) => {
  const bare = await startBare(bench.session)
  const answerer = await startAnswerer(bench.session)
  const load = { request: ingestRequest(eventBody()), keys: Buffer.alloc(KEY_LENGTH, 'K') }
  const results = await runRounds(bench, { bare: { ...load, server: bare }, ceiling: { ...load, server: answerer } })
  const ratio = median(ratiosOf(results.ceiling, results.bare))
  const perSecond = medianOf(results.ceiling, (result) => result.requestsPerSecond)
  const check = {
    what: "load generator's ceiling",
    value: `${ratio.toFixed(2)} × bare (${grouped(perSecond)} requests/s)`,
    target: `≥ ${MARGIN} × bare`,
    reached: ratio >= MARGIN,
  }
  return { measurements: [], checks: [check] }
}
