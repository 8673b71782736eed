import { setTimeout as sleep } from 'node:timers/promises'
import { eventBody } from '../../../testkit/payloads.ts'
import type { ServerProcess } from '../../../testkit/processes/server-process.ts'
import { residentMemory } from '../../lib/machine.ts'
import { type Program, startWithSites } from '../../lib/programs.ts'
import { ingestRequest, packKeys } from '../../lib/request-template.ts'
import { median, shareOfStatus } from '../../lib/statistics.ts'
import type { Check } from '../../lib/table.ts'
import { type Bench, runLoadOnce } from '../rounds.ts'
import type { Scenario } from './scenario.ts'

const SITES = 10_000
const MOST_MEGABYTES = 250
const SAMPLE_INTERVAL_MS = 15_000
/** Memory in the last third of a soak, relative to the second: above this it grows. */
const MOST_GROWTH = 1.1

/** Memory of the server with 10,000 sites active, at its peak; with `--minutes` also whether it grows under full load. */
export const memory: Scenario = async (bench) => {
  const checks: Check[] = []
  for (const program of bench.programs) checks.push(...(await measureMemory(bench, program)))
  return { measurements: [], checks }
}

async function measureMemory(bench: Bench, program: Program): Promise<Check[]> {
  const { session } = bench
  const { server, sites } = await startWithSites(session, program, SITES)
  const loadMs = bench.soakMinutes > 0 ? bench.soakMinutes * 60_000 : bench.seconds * 1_000
  const stop = new AbortController()
  const samples = sampleMemory(bench, server, stop.signal)
  const load = { server, request: ingestRequest(eventBody()), keys: packKeys(sites.map((site) => site.ingest_key)) }
  const result = await runLoadOnce(bench, load, loadMs)
  stop.abort()
  const { label } = program
  const checks = [peakCheck(server, label)]
  if (bench.soakMinutes > 0) checks.push(growthCheck(bench.soakMinutes, await samples, label))
  const share = shareOfStatus([result], 200)
  checks.push({
    what: `memory${label}: answers with 200`,
    value: `${(share * 100).toFixed(3)} %`,
    target: 'all',
    reached: share === 1,
  })
  await server.stop()
  return checks
}

function peakCheck(server: ServerProcess, label: string): Check {
  const { nowMb, peakMb } = residentMemory(server.pid)
  return {
    what: `peak memory with 10,000 sites active${label}`,
    value: `${peakMb.toFixed(0)} MB (${nowMb.toFixed(0)} MB after the load); ${(peakMb / MOST_MEGABYTES).toFixed(2)} of the target`,
    target: `< ${MOST_MEGABYTES} MB`,
    reached: peakMb < MOST_MEGABYTES,
  }
}

/** Memory every 15 s until the signal, MB. */
async function sampleMemory(bench: Bench, server: ServerProcess, signal: AbortSignal): Promise<number[]> {
  const samples: number[] = []
  while (!signal.aborted) {
    await sleep(SAMPLE_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    const { nowMb } = residentMemory(server.pid)
    samples.push(nowMb)
    bench.progress(`${(samples.length * SAMPLE_INTERVAL_MS) / 1_000} s: ${nowMb.toFixed(0)} MB`)
  }
  return samples
}

function growthCheck(minutes: number, samples: readonly number[], label: string): Check {
  const third = Math.floor(samples.length / 3)
  const growth = median(samples.slice(-third)) / median(samples.slice(third, -third))
  return {
    what: `memory over ${minutes} min of full load${label}`,
    value: `last third ${growth.toFixed(2)} × the second`,
    target: `≤ ${MOST_GROWTH.toFixed(2)} ×`,
    reached: growth <= MOST_GROWTH,
  }
}
