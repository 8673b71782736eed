import { setTimeout as sleep } from 'node:timers/promises'
import { importProbes, importSites } from '../../testkit/many-sites.ts'
import { eventBody } from '../../testkit/payloads.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { type Bench, type Load, type RoundResult, runLoadOnce, WARMUP_MS } from '../ingest/rounds.ts'
import { processorSeconds } from '../lib/machine.ts'
import { ingestRequest, packKeys } from '../lib/request-template.ts'
import { medianOf } from '../lib/statistics.ts'
import { INTERVAL_MS, INTERVAL_SECONDS, type RunsInStore, readRuns, skipMissedRuns } from './data.ts'
import { type LagCounts, lagBetween, readProbeMetrics } from './lag.ts'
import { type Punctuality, punctuality, type Stretch } from './punctuality.ts'
import { startSteadyLoad, startTagServer } from './workers.ts'

/** Before anything is measured on a server that has just started: what fell due meanwhile is made up for. */
const SETTLE_MS = 3_000
const POLL_INTERVAL_MS = 100
/** The slowest at which the first runs of all probes are waited for. */
const FIRST_RUNS_PER_SECOND = 20
const FIRST_RUNS_LEEWAY_MS = 30_000

/** The steady load's part of what the server without probes takes at most. */
export const STEADY_SHARE = 0.5

/** A stretch of time with what the program's own metrics counted in it. */
interface Observed extends Stretch {
  before: LagCounts
  after: LagCounts
}

/** Runs while nothing else was asked of the server. */
export interface Alone {
  runs: number
  seconds: number
  /** Processor time of the server for one run, what it does without probes included. */
  processorMicros: number
}

/** One load on a server without probes and on one with them, by rounds. */
export interface Compared {
  without: RoundResult[]
  with: RoundResult[]
}

export interface Measured {
  probes: number
  /** Every probe once, all due at the start. */
  backlog: Alone
  /** Each when it is due. */
  paced: Alone & { lag: LagCounts }
  /** As fast as it is answered. */
  full: Compared
  /** At `steadyRate` requests/s. */
  steady: Compared
  steadyRate: number
  /** Beside the loads, as the program's own metrics have it. */
  lag: LagCounts
  /** The same by the results in the store. */
  punctuality: Punctuality
  /** All runs there were. */
  runs: RunsInStore
  /** Requests that the tag server answered. */
  answered: number
}

/**
 * Loads a server without probes and one with them in turn, first as fast as they answer, then at a rate that both can take.
 * Only one of them runs at a time: the probes of the other would take from what is measured.
 */
export async function measureProbes(bench: Bench, probes: number): Promise<Measured> {
  const { session, progress } = bench
  const askTagServer = startTagServer(session)
  const { port } = await askTagServer()
  const without = await prepare(session, probes)
  const withProbes = await prepare(session, probes)
  // With the first run, the program puts each probe on its own grid.
  await importProbes(withProbes.dataDir, {
    intervalSeconds: INTERVAL_SECONDS,
    targetOf: () => `http://127.0.0.1:${port}`,
    isSpread: false,
  })
  const { backlog, paced } = await measureAlone(bench, withProbes.dataDir, probes)

  const observed: Observed[] = []
  const beside = async (server: ServerProcess) => {
    await sleep(WARMUP_MS)
    observed.push(await observe(server, bench.seconds * 1_000))
  }
  const full: Compared = { without: [], with: [] }
  for (let round = 1; round <= bench.rounds; round++) {
    full.without.push(await loadOnce(without, (load) => runLoadOnce(bench, load)))
    full.with.push(
      await loadOnce(withProbes, (load) => runLoadOnce(bench, { ...load, meanwhile: () => beside(load.server) })),
    )
    progress(`round ${round}, as fast as it goes: ${roundText(full)}`)
  }
  const steadyRate = Math.round(STEADY_SHARE * medianOf(full.without, (result) => result.requestsPerSecond))
  const send = startSteadyLoad(bench)
  const steady: Compared = { without: [], with: [] }
  for (let round = 1; round <= bench.rounds; round++) {
    steady.without.push(await loadOnce(without, (load) => send(load, steadyRate)))
    steady.with.push(
      await loadOnce(withProbes, async (load) => {
        const [result] = await Promise.all([send(load, steadyRate), beside(load.server)])
        return result
      }),
    )
    progress(`round ${round}, ${steadyRate} requests/s: ${roundText(steady)}`)
  }
  const runs = await readRuns(withProbes.dataDir)
  const { answered } = await askTagServer()
  return {
    probes,
    backlog,
    paced,
    full,
    steady,
    steadyRate,
    lag: lagBetween(observed),
    punctuality: punctuality(runs.probes, INTERVAL_MS, observed),
    runs,
    answered,
  }

  async function loadOnce(
    { dataDir, load }: Subject,
    measure: (load: Load) => Promise<RoundResult>,
  ): Promise<RoundResult> {
    await skipMissedRuns(dataDir)
    const server = await startServer(session, dataDir)
    await sleep(SETTLE_MS)
    const result = await measure({ ...load, server })
    await server.stop()
    return result
  }
}

function roundText({ without, with: withProbes }: Compared): string {
  const [bare, beside] = [without.at(-1), withProbes.at(-1)]
  return `p99 ${bare?.p99Ms.toFixed(2)} ms without probes, ${beside?.p99Ms.toFixed(2)} ms with`
}

interface Subject {
  dataDir: string
  load: Omit<Load, 'server'>
}

async function prepare(session: Session, sites: number): Promise<Subject> {
  const dataDir = session.newFolder('data')
  const [first] = await importSites(dataDir, sites)
  if (first === undefined) throw new Error('there is no site to send to')
  return { dataDir, load: { request: ingestRequest(eventBody()), keys: packKeys([first.ingest_key]) } }
}

/** The first runs of all probes, which are due at once, and then the runs of as long as a load takes. */
async function measureAlone(
  bench: Bench,
  dataDir: string,
  probes: number,
): Promise<{ backlog: Alone; paced: Measured['paced'] }> {
  const server = await startServer(bench.session, dataDir)
  const backlog = await alone(server, () => firstRuns(server, probes))
  bench.progress(`${probes} probes due at once: ${backlog.seconds.toFixed(1)} s`)
  await sleep(SETTLE_MS)
  let observed: Observed | undefined
  const paced = await alone(server, async () => {
    observed = await observe(server, bench.seconds * 1_000)
  })
  bench.progress(`${paced.runs} runs in ${paced.seconds.toFixed(1)} s: ${Math.round(paced.processorMicros)} µs each`)
  await server.stop()
  return { backlog, paced: { ...paced, lag: lagBetween(observed === undefined ? [] : [observed]) } }
}

const startServer = (session: Session, dataDir: string): Promise<ServerProcess> =>
  startTagwarden(session, dataDir, { OUTBOUND_ALLOW: '127.0.0.0/8' })

async function alone({ pid, url }: ServerProcess, work: () => Promise<void>): Promise<Alone> {
  const before = { processor: processorSeconds(pid), at: performance.now(), ...(await readProbeMetrics(url)) }
  await work()
  const after = { processor: processorSeconds(pid), at: performance.now(), ...(await readProbeMetrics(url)) }
  const runs = after.runs - before.runs
  return {
    runs,
    seconds: (after.at - before.at) / 1_000,
    processorMicros: ((after.processor - before.processor) * 1_000_000) / runs,
  }
}

async function observe({ url }: ServerProcess, durationMs: number): Promise<Observed> {
  const from = Date.now()
  const before = await readProbeMetrics(url)
  await sleep(durationMs)
  const to = Date.now()
  const after = await readProbeMetrics(url)
  return { from, to, before: before.lag, after: after.lag }
}

/** @throws Error when they do not come to their end */
async function firstRuns({ url }: ServerProcess, probes: number): Promise<void> {
  const deadline = Date.now() + FIRST_RUNS_LEEWAY_MS + (probes / FIRST_RUNS_PER_SECOND) * 1_000
  for (;;) {
    const { runs } = await readProbeMetrics(url)
    if (runs >= probes) return
    if (Date.now() > deadline) throw new Error(`only ${runs} of ${probes} probes have run`)
    await sleep(POLL_INTERVAL_MS)
  }
}
