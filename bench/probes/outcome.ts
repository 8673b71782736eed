import { compare } from '../ingest/compare.ts'
import type { RoundResult } from '../ingest/rounds.ts'
import { medianOf } from '../lib/statistics.ts'
import { type Check, grouped, markdownTable, milliseconds, outcomeText as tablesOf } from '../lib/table.ts'
import { type LagCounts, lagBound } from './lag.ts'
import { type Alone, type Compared, type Measured, STEADY_SHARE } from './measure.ts'

const MOST_LAG_MS = 1_000
const MOST_TIMES_SLOWER = 2

/** What was measured as Markdown. */
export function outcomeText(measured: Measured): string {
  const { full, steady, steadyRate } = measured
  const loads = markdownTable(
    ['one site', 'requests/s', 'p50', 'p99', 'longest', 'processor time, µs a request, probes included'],
    [
      loadRow('as fast as it is answered, without probes', full.without),
      loadRow('as fast as it is answered, with probes', full.with),
      loadRow('at a fixed rate, without probes', steady.without),
      loadRow('at a fixed rate, with probes', steady.with),
    ],
  )
  const checks = [
    ...ingestChecks('as fast as it is answered', full),
    ...ingestChecks(`at ${grouped(steadyRate)} requests/s`, steady),
    ...lagChecks(measured),
    ...runChecks(measured),
  ]
  const rate = `The fixed rate is ${STEADY_SHARE * 100} % of what is answered without probes; times count from when a request was due.`
  return `${loads}\n\n${rate}\n\n${tablesOf({ measurements: [], checks })}\n\n${aloneText(measured)}`
}

const loadRow = (name: string, results: readonly RoundResult[]): string[] => [
  name,
  grouped(medianOf(results, (result) => result.requestsPerSecond)),
  milliseconds(medianOf(results, (result) => result.p50Ms)),
  milliseconds(medianOf(results, (result) => result.p99Ms)),
  milliseconds(medianOf(results, (result) => result.maxMs)),
  medianOf(results, (result) => result.processorMicros).toFixed(1),
]

function ingestChecks(load: string, { without, with: withProbes }: Compared): Check[] {
  const alone = medianOf(without, (result) => result.p99Ms)
  const { measurements, checks } = compare(`one site ${load}`, without, withProbes, {
    text: `≤ ${MOST_TIMES_SLOWER} × that without`,
    isReached: ({ p99Ms }) => p99Ms <= MOST_TIMES_SLOWER * alone,
  })
  const rows = measurements.map(({ p99Ms, ratio, target, reached }) => ({
    what: `p99 of ingest beside probes, ${load}`,
    value: `${(p99Ms / alone).toFixed(2)} × (${milliseconds(p99Ms)}), with ${ratio.toFixed(2)} of the requests/s`,
    target,
    reached,
  }))
  return [...rows, ...checks]
}

function lagChecks({ lag, punctuality: { due, missed, lagMs } }: Measured): Check[] {
  const target = `p99 < ${MOST_LAG_MS} ms`
  const boundMs = lagBound(lag, 0.99) * 1_000
  const p99Ms = lagMs.percentile(0.99)
  return [
    {
      what: 'lag beside the load, by the metrics',
      value: `p99 ${lagText(lag, 0.99)}, p50 ${lagText(lag, 0.5)}, ${runsOf(lag)} runs`,
      target,
      reached: boundMs <= MOST_LAG_MS,
    },
    {
      what: 'the same, by the results',
      value: `p99 ${milliseconds(p99Ms)}, p50 ${milliseconds(lagMs.percentile(0.5))}, longest ${milliseconds(lagMs.max)}`,
      target,
      reached: lagMs.count > 0 && p99Ms < MOST_LAG_MS,
    },
    {
      what: 'runs due beside the load that were left out',
      value: `${grouped(missed)} of ${grouped(due)}`,
      target: 'none',
      reached: missed === 0,
    },
  ]
}

function runChecks({ probes, answered, runs: { probes: stored, statuses, retried } }: Measured): Check[] {
  const ran = stored.filter(({ executedAt }) => executedAt.length > 0).length
  const runs = stored.reduce((sum, { executedAt }) => sum + executedAt.length, 0)
  const list = Object.entries(statuses).map(([status, count]) => `${status} × ${grouped(count)}`)
  return [
    {
      what: 'results',
      value: `${list.join(', ') || 'none'}, ${grouped(retried)} of a second attempt`,
      target: 'all ok at once',
      reached: statuses.ok === runs && retried === 0,
    },
    { what: 'probes with results', value: grouped(ran), target: grouped(probes), reached: ran === probes },
    {
      what: 'requests the tag server answered',
      value: grouped(answered),
      target: `${grouped(runs)}, one a result`,
      reached: answered === runs,
    },
  ]
}

function aloneText({ probes, backlog, paced }: Measured): string {
  const cost = ({ processorMicros }: Alone) => `${grouped(processorMicros)} µs of processor time a run`
  const perSecond = grouped(paced.runs / paced.seconds)
  return [
    `Without load: ${grouped(probes)} probes that are due at once have run after ${backlog.seconds.toFixed(1)} s, with ${cost(backlog)}.`,
    `At their pace, ${perSecond} a second, they begin with a lag of p99 ${lagText(paced.lag, 0.99)} and take ${cost(paced)},`,
    'what an idle server takes included.',
  ].join(' ')
}

/** Metrics tell buckets: the lag is between the end of the one before and this. */
const lagText = (lag: LagCounts, share: number): string => `≤ ${milliseconds(lagBound(lag, share) * 1_000)}`

const runsOf = (lag: LagCounts): string => grouped(lag.get(Number.POSITIVE_INFINITY) ?? 0)
