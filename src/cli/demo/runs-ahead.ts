import { Worker } from 'node:worker_threads'
import { SECOND } from '../../lib/index.ts'
import { nextRunAt, type Run, type RunTools, runProbe } from '../../probes/index.ts'
import type { TimeRange } from '../../rollups/index.ts'
import type { ProbeRow, SiteRow } from '../../store/index.ts'
import { LookAhead } from './look-ahead.ts'
import { nextRunIn, REGISTRY } from './probes.ts'

/** A probe that judges counts, and when it is run for the history. */
export interface CountsProbe {
  site: { row: SiteRow }
  row: ProbeRow
  stretches: readonly TimeRange[]
}

export const isOfCounts = ({ probe_type }: ProbeRow): boolean => REGISTRY.get(probe_type)?.kind === 'data'

/** One remembers what its last run saw. Of silence who asks looks itself, too: so each thread has about half of the work. */
const NOT_AHEAD = ['container_lag', 'data_freshness']

/** Whether the thread runs it. */
export const isRunAhead = (row: ProbeRow): boolean => isOfCounts(row) && !NOT_AHEAD.includes(row.probe_type)

/** Runs a probe as it would be at a time, epoch ms. */
export async function runAt(tools: Omit<RunTools, 'clock'>, { row, site }: CountsProbe, at: number): Promise<Run> {
  const type = REGISTRY.get(row.probe_type)
  const made = await runProbe({ ...tools, clock: { now: () => at } }, type, row, site.row, NEVER)
  if (made === undefined) throw new Error('a run was cancelled that cannot be cancelled')
  return made
}

const NEVER = new AbortController().signal

/** The same, without the runs that find what those around them find. Ask in order of time. */
export function runsOf(tools: Omit<RunTools, 'clock'>, probe: CountsProbe): (at: number) => Promise<Run> {
  const lookAhead = new LookAhead((at) => runAt(tools, probe, at), probe.row.interval_seconds * SECOND)
  return (at) => lookAhead.at(at, probe.stretches.find(({ from, to }) => from <= at && at < to)?.to ?? at)
}

/** A run that the history will most likely ask for. */
export interface RunAhead {
  probeId: string
  run: Run
}

/** Runs probes when they are due, as long as they find nothing bad: then someone may do something about it, or they run sooner. */
export async function* runsAhead(
  tools: Omit<RunTools, 'clock'>,
  probes: readonly CountsProbe[],
  to: number,
): AsyncGenerator<RunAhead> {
  const waiting = probes.map((probe) => {
    return { ...probe, run: runsOf(tools, probe), dueAt: nextRunIn(probe.stretches, probe.row) }
  })
  for (;;) {
    const at = Math.min(...waiting.map(({ dueAt }) => dueAt))
    const due = waiting.find(({ dueAt }) => dueAt === at)
    if (due === undefined || at >= to) return
    const run = await due.run(at)
    yield { probeId: due.row.id, run }
    const next_run_at = nextRunAt(due.row.id, due.row.interval_seconds, at)
    due.dueAt = nextRunIn(due.stretches, { ...due.row, next_run_at, last_status: run.outcome.status })
  }
}

/** What the thread is to do. */
export interface AheadOrder {
  dataDir: string
  settings: RunTools['settings']
  probes: readonly CountsProbe[]
  /** The present, epoch ms. */
  to: number
}

/**
 * Runs probes of the history in a thread of its own, which loads the program while the history is written: what probes read and judge was more than
 * half of a start's time, and the other core had nothing to do. A run that it did not foresee is left to who asks for it.
 */
export class RunsAhead {
  readonly #worker = new Worker(new URL('./runs-ahead-worker.ts', import.meta.url), { execArgv: [] })
  readonly #runs = new Map<string, Run>()
  /** Of the last run that came; everything before is here. */
  #madeUntil = Number.NEGATIVE_INFINITY
  #next = Promise.withResolvers<void>()

  constructor() {
    this.#worker.on('message', ({ probeId, run }: RunAhead) => {
      this.#runs.set(keyOf(probeId, run.executedAt), run)
      this.#advance(run.executedAt)
    })
    // Without it the runs are made all the same, later.
    this.#worker.on('error', (error) => console.error(`the thread that runs probes: ${error.message}`))
    this.#worker.on('exit', () => this.#advance(Number.POSITIVE_INFINITY))
  }

  begin(order: AheadOrder): void {
    this.#worker.postMessage(order)
  }

  /** The run of a probe at a time, epoch ms; undefined when the thread makes none. */
  async at(probeId: string, at: number): Promise<Run | undefined> {
    const key = keyOf(probeId, at)
    while (!this.#runs.has(key) && this.#madeUntil <= at) await this.#next.promise
    const run = this.#runs.get(key)
    this.#runs.delete(key)
    return run
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #advance(until: number): void {
    this.#madeUntil = Math.max(this.#madeUntil, until)
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }
}

const keyOf = (probeId: string, at: number): string => `${probeId} ${at}`
