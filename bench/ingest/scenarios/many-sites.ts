import { setTimeout as sleep } from 'node:timers/promises'
import { createSites } from '../../../testkit/many-sites.ts'
import { eventBody } from '../../../testkit/payloads.ts'
import type { ServerProcess } from '../../../testkit/processes/server-process.ts'
import { type Program, startProgram, startWithSites } from '../../lib/programs.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { grouped } from '../../lib/table.ts'
import { compareWithBare } from '../beside-bare.ts'
import { atLeastRatio } from '../compare.ts'
import { type Bench, runLoadOnce } from '../rounds.ts'
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
    const patient = { ...bench, seconds: Math.max(bench.seconds, LEAST_SECONDS) }
    const { outcome } = await compareWithBare(patient, {
      scenario: `${grouped(count)} sites`,
      request: ingestRequest(eventBody()),
      target: () => atLeastRatio(targetRatio),
      start: async (program) => {
        const { server, sites } = await startFor(bench, program, count)
        const load = { server, keys: packKeys(sites.map((site) => site.ingest_key)), done: () => untilFolded(server) }
        if (count > MOST_THROUGH_API) {
          await runLoadOnce(bench, { ...load, request: ingestRequest(eventBody()) }, FIRST_EVENTS_MS)
        }
        return load
      },
    })
    return outcome
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

async function startFor(bench: Bench, program: Program, count: number) {
  const { session } = bench
  if (count > MOST_THROUGH_API) return startWithSites(session, program, count)
  const server = await startProgram(session, program, session.newFolder('data'))
  return { server, sites: await createSites(server.url, count) }
}
