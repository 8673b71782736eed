import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient, type SiteKey } from '../../../testkit/api.ts'
import { createSite } from '../../../testkit/many-sites.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import { startProgram } from '../../lib/programs.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { acceptedOf } from '../../lib/statistics.ts'
import { type Check, grouped } from '../../lib/table.ts'
import { compareWithBare } from '../beside-bare.ts'
import { atLeastRatio } from '../compare.ts'
import type { Scenario } from './scenario.ts'

/** Counts are to be visible 2 s after the answer; a loaded machine gets some more. */
const VISIBLE_TIMEOUT_MS = 10_000
const POLL_INTERVAL_MS = 250

/** All load on one site, and afterwards: is every acknowledged event counted, and counted once? */
export const oneSite: Scenario = async (bench) => {
  const { session } = bench
  const started: { url: string; site: SiteKey }[] = []
  const { outcome, rounds } = await compareWithBare(bench, {
    scenario: 'one site',
    request: ingestRequest(eventBody()),
    target: () => atLeastRatio(0.8),
    start: async (program) => {
      const server = await startProgram(session, program, session.newFolder('data'))
      const site = await createSite(server.url, { name: 'One site' })
      started.push({ url: server.url, site })
      return { server, keys: packKeys([site.ingest_key]) }
    },
  })
  const { url, site } = started.at(-1) ?? {}
  if (url === undefined || site === undefined) throw new Error('no program was started')
  const count = await checkCount(() => apiClient(url).totalEvents(site, 24), acceptedOf(rounds))
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
