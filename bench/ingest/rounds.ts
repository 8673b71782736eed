import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import type { Session } from '../../testkit/processes/session.ts'
import { load as sendLoad } from '../lib/clients.ts'
import type { LoadPlan, LoadResult } from '../lib/http-load.ts'
import { processorSeconds } from '../lib/machine.ts'
import type { Program } from '../lib/programs.ts'
import type { RequestTemplate } from '../lib/request-template.ts'

/** Open connections, each with one request in flight. */
export const CONNECTIONS = 64
export const WARMUP_MS = 2_000
/** Between two loads: what the last one left in memory is folded away before the next one is measured. */
const SETTLE_MS = 2_000

export interface Bench {
  session: Session
  /** Measured seconds of each load. */
  seconds: number
  /** How often each load is repeated. */
  rounds: number
  /** Minutes of full load in the memory scenario; 0 leaves it at one load of `seconds`. */
  soakMinutes: number
  /** What is measured in turn. */
  programs: readonly Program[]
  progress(text: string): void
}

export interface Load {
  server: ServerProcess
  request: RequestTemplate
  keys: Uint8Array
  connectionPerRequest?: boolean
  /** Runs beside the load, and is waited for. */
  meanwhile?: () => Promise<void>
  /** Resolves when the server has done all work that the load has made; left out, that takes no more than two seconds. */
  done?: () => Promise<void>
}

export interface RoundResult extends LoadResult {
  /** Processor time of the server per answer, µs, with the work it did for it afterwards; NaN where it cannot be measured. */
  processorMicros: number
}

/**
 * Runs the loads in turn, `rounds` times over: A B A B rather than A A B B, because other work on the machine comes and
 * goes and should meet all of them alike.
 */
export async function runRounds<Name extends string>(
  bench: Bench,
  loads: Readonly<Record<Name, Load>>,
): Promise<Record<Name, RoundResult[]>> {
  const names = Object.keys(loads) as Name[]
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, RoundResult[]>
  for (let round = 1; round <= bench.rounds; round++) {
    for (const name of names) {
      const result = await runLoadOnce(bench, loads[name])
      results[name].push(result)
      bench.progress(`round ${round}, ${name}: ${resultLine(result)}`)
    }
  }
  return results
}

/** One load with its warm-up. */
export async function runLoadOnce(bench: Bench, load: Load, measureMs = bench.seconds * 1_000): Promise<RoundResult> {
  const { pid } = load.server
  const before = processorSeconds(pid)
  const [result] = await Promise.all([sendLoad(bench.session, planOf(load, measureMs)), load.meanwhile?.()])
  await sleep(SETTLE_MS)
  await load.done?.()
  return { ...result, processorMicros: ((processorSeconds(pid) - before) * 1_000_000) / result.answers }
}

const planOf = (load: Load, measureMs: number): LoadPlan => ({
  ports: [load.server.port],
  connections: CONNECTIONS,
  warmupMs: WARMUP_MS,
  measureMs,
  request: load.request,
  keys: load.keys,
  connectionPerRequest: load.connectionPerRequest ?? false,
})

function resultLine(result: RoundResult): string {
  const statuses = Object.entries(result.statuses).map(([status, count]) => `${status} × ${count}`)
  return [
    `${Math.round(result.requestsPerSecond)} requests/s`,
    `p50 ${result.p50Ms.toFixed(2)} ms`,
    `p99 ${result.p99Ms.toFixed(2)} ms`,
    `max ${result.maxMs.toFixed(0)} ms`,
    statuses.join(', ') || 'no answers',
    `server ${result.processorMicros.toFixed(1)} µs of processor time per request`,
    `generator ${Math.round(result.generatorLoad * 100)} % busy`,
    ...(result.unanswered > 0 ? [`${result.unanswered} unanswered`] : []),
  ].join(', ')
}
