import { GoogleFailure } from './failure.ts'
import { type JsonRecord, recordsOf, textOf, wholeNumberOf } from './json.ts'

export interface EventCounts {
  /** What the query read. */
  bytes: number
  /** Every event that was asked for, 0 when it is not in the table. */
  counts: Readonly<Record<string, number>>
}

/** As BigQuery allows them; what else stands between the backticks would be SQL. */
const PROJECT = /^[a-z0-9.:-]{1,100}$/
const NAME = /^\w{1,1024}$/

/** Whether the names can stand in a query. */
export const areNames = (project: string, dataset: string): boolean => PROJECT.test(project) && NAME.test(dataset)

/**
 * One table, so that a day is not counted twice (`events_*` would take the intraday table, too), and of it one column.
 *
 * @throws GoogleFailure `bad_request` when a name is none
 */
export function countQuery(
  { project, dataset, table }: { project: string; dataset: string; table: string },
  events: readonly string[],
): JsonRecord {
  if (!areNames(project, dataset) || !NAME.test(table)) {
    throw new GoogleFailure('bad_request', `${project}.${dataset}.${table} is not the name of a table`)
  }
  return {
    query: `SELECT event_name, COUNT(*) AS n FROM \`${project}.${dataset}.${table}\` WHERE event_name IN UNNEST(@events) GROUP BY event_name`,
    useLegacySql: false,
    parameterMode: 'NAMED',
    queryParameters: [
      {
        name: 'events',
        parameterType: { type: 'ARRAY', arrayType: { type: 'STRING' } },
        parameterValue: { arrayValues: events.map((value) => ({ value })) },
      },
    ],
  }
}

/** Rows come as `{ f: [{ v: 'purchase' }, { v: '12' }] }`. @throws GoogleFailure `bad_answer` */
export function readCounts(json: JsonRecord, events: readonly string[]): Readonly<Record<string, number>> {
  const counted = recordsOf(json.rows).map((row) => {
    const [name, count] = recordsOf(row.f)
    const [event, n] = [textOf(name?.v), wholeNumberOf(count?.v)]
    if (event === null || n === null) throw new GoogleFailure('bad_answer', 'The BigQuery API answered no counts')
    return [event, n] as const
  })
  return { ...Object.fromEntries(events.map((event) => [event, 0])), ...Object.fromEntries(counted) }
}
