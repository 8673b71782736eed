import { median, medianOf, ratiosOf } from '../lib/statistics.ts'
import { grouped, markdownTable, milliseconds } from '../lib/table.ts'
import type { Sample } from './sample.ts'

export interface Measured {
  name: string
  samples: readonly Sample[]
}

/** Medians as Markdown; the first row is the baseline that the others' ratios are to. */
export function scaleTable(rows: readonly Measured[]): string {
  const baseline = rows[0]?.samples ?? []
  const head = [
    'nodes',
    'requests/s',
    'ratio',
    'p50',
    'p99',
    'group commits/s',
    'transactions/s',
    'processor time of the nodes, µs a request',
    'of PostgreSQL',
  ]
  return markdownTable(
    head,
    rows.map(({ name, samples }) => [
      name,
      grouped(medianOf(samples, (sample) => sample.requestsPerSecond)),
      median(ratiosOf(samples, baseline)).toFixed(2),
      milliseconds(medianOf(samples, (sample) => sample.p50Ms)),
      milliseconds(medianOf(samples, (sample) => sample.p99Ms)),
      grouped(medianOf(samples, (sample) => sample.commitsPerSecond)),
      grouped(medianOf(samples, (sample) => sample.transactionsPerSecond)),
      medianOf(samples, (sample) => sample.nodeMicros).toFixed(1),
      medianOf(samples, (sample) => sample.databaseMicros).toFixed(1),
    ]),
  )
}
