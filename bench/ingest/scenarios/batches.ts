import { createSite } from '../../../testkit/many-sites.ts'
import { batchBody, EVENTS_PER_BATCH } from '../../../testkit/payloads.ts'
import { startProgram } from '../../lib/programs.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { medianOf } from '../../lib/statistics.ts'
import { grouped } from '../../lib/table.ts'
import { compareWithBare } from '../beside-bare.ts'
import type { Target } from '../compare.ts'
import type { RoundResult } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const TARGET_EVENTS_PER_SECOND = 1_000_000

/** Batched bodies, each of which reports 200 events. */
export const batches: Scenario = async (bench) => {
  const { session } = bench
  const { outcome } = await compareWithBare(bench, {
    scenario: `batches of ${EVENTS_PER_BATCH}`,
    request: ingestRequest(batchBody()),
    target: eventsPerSecond,
    start: async (program) => {
      const server = await startProgram(session, program, session.newFolder('data'))
      const site = await createSite(server.url, { name: 'Batches' })
      return { server, keys: packKeys([site.ingest_key]) }
    },
  })
  return outcome
}

function eventsPerSecond(rounds: readonly RoundResult[]): Target {
  const perSecond = medianOf(rounds, (result) => result.requestsPerSecond) * EVENTS_PER_BATCH
  return {
    text: `≥ ${grouped(TARGET_EVENTS_PER_SECOND)} events/s (${grouped(perSecond)})`,
    isReached: () => perSecond >= TARGET_EVENTS_PER_SECOND,
  }
}
