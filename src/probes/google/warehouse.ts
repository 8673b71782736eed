import { fieldsOf, isObject } from '../../lib/index.ts'
import type { Caller } from './access-tokens.ts'
import { askGoogle, type GoogleAnswer } from './ask.ts'
import { GoogleFailure, type JsonRecord, recordsOf, textOf, wholeNumberOf } from './failure.ts'
import type { ServiceAccount } from './service-account.ts'

const SCOPE = 'https://www.googleapis.com/auth/bigquery.readonly'

/** Where a site's tables are. */
interface Dataset {
  project: string
  dataset: string
}

/** The metadata of a table; reading it costs nothing. */
export interface TableFacts {
  name: string
  /** Includes BigQuery's estimate of the rows in the streaming buffer. */
  rows: number
  /** Epoch ms. */
  modifiedAt: number
  /** When the oldest row in the streaming buffer arrived, epoch ms; null when the buffer is empty. */
  bufferedSince: number | null
}

/** Reads the warehouse with a service account. */
export interface Warehouse {
  /**
   * Null when the table does not exist.
   *
   * @throws GoogleFailure
   */
  table(name: string): Promise<TableFacts | null>
  /** @throws GoogleFailure `not_found` when the dataset does not exist */
  requireDataset(): Promise<void>
  /**
   * Counts each of the events in the table.
   *
   * @throws GoogleFailure, also when the query would read more than `maxBytes`; it is not run then
   */
  countEvents(table: string, events: readonly string[], maxBytes: number): Promise<EventCounts>
}

/** @param apiUrl from the settings, e.g. `https://bigquery.googleapis.com` */
export function openWarehouse(account: ServiceAccount, apiUrl: string, at: Dataset, caller: Caller): Warehouse {
  const project = `${apiUrl}/bigquery/v2/projects/${encodeURIComponent(at.project)}`
  const dataset = `${project}/datasets/${encodeURIComponent(at.dataset)}`
  const ask = (url: string, body?: JsonRecord): Promise<GoogleAnswer> =>
    askGoogle(account, { url, scope: SCOPE, api: 'BigQuery', ...(body === undefined ? {} : { body }) }, caller).catch(
      (thrown: unknown) => {
        throw withRole(thrown, account, at)
      },
    )
  return {
    async table(name) {
      try {
        return readTable(name, (await ask(`${dataset}/tables/${encodeURIComponent(name)}`)).json)
      } catch (thrown) {
        if (thrown instanceof GoogleFailure && thrown.reason === 'not_found') return null
        throw thrown
      }
    },
    async requireDataset() {
      await ask(dataset).catch((thrown: unknown) => {
        if (!(thrown instanceof GoogleFailure) || thrown.reason !== 'not_found') throw thrown
        throw new GoogleFailure('not_found', `There is no dataset ${at.project}.${at.dataset}`, thrown.facts)
      })
    },
    async countEvents(table, events, maxBytes) {
      const query = countQuery({ ...at, table }, events)
      const bytes = wholeNumberOf(
        (await ask(`${project}/queries`, { ...query, dryRun: true })).json.totalBytesProcessed,
      )
      if (bytes === null || bytes > maxBytes) {
        const size = bytes === null ? 'an unknown number of bytes' : megabytes(bytes)
        throw new GoogleFailure(
          'bad_request',
          `Counting the events of ${table} would read ${size}, and max_query_mb allows ${megabytes(maxBytes)}`,
        )
      }
      let { json } = await ask(`${project}/queries`, {
        ...query,
        maximumBytesBilled: String(maxBytes),
        timeoutMs: 5_000,
      })
      while (json.jobComplete !== true) json = (await ask(`${project}/${resultsPath(json)}`)).json
      return { bytes, counts: readCounts(json, events) }
    },
  }
}

function readTable(name: string, json: JsonRecord): TableFacts {
  const rows = wholeNumberOf(json.numRows)
  const modifiedAt = wholeNumberOf(json.lastModifiedTime)
  if (rows === null || modifiedAt === null) {
    throw new GoogleFailure('bad_answer', `The BigQuery API returns neither the rows nor the last change of ${name}`)
  }
  const buffer = fieldsOf(json.streamingBuffer)
  return {
    name,
    rows: rows + (wholeNumberOf(buffer.estimatedRows) ?? 0),
    modifiedAt,
    bufferedSince: wholeNumberOf(buffer.oldestEntryTime),
  }
}

/** Outside the US and the EU, a job is found only with its location. `timeoutMs` makes the server wait, so no delay is needed here. */
function resultsPath({ jobReference }: JsonRecord): string {
  const job = isObject(jobReference) ? textOf(jobReference.jobId) : null
  const location = isObject(jobReference) ? textOf(jobReference.location) : null
  if (job === null) throw new GoogleFailure('bad_answer', 'The BigQuery API answered neither counts nor a job')
  const parameters = new URLSearchParams({ timeoutMs: '5000', ...(location === null ? {} : { location }) })
  return `queries/${encodeURIComponent(job)}?${parameters}`
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_048_576).toLocaleString('en-US')} MB`

/** For each missing permission that Google reports: a role that includes it, and where to grant it. */
const ROLES: Readonly<Record<string, readonly [role: string, on: keyof Dataset]>> = {
  'bigquery.datasets.get': ['BigQuery Metadata Viewer (roles/bigquery.metadataViewer)', 'dataset'],
  'bigquery.tables.get': ['BigQuery Metadata Viewer (roles/bigquery.metadataViewer)', 'dataset'],
  'bigquery.tables.getData': ['BigQuery Data Viewer (roles/bigquery.dataViewer)', 'dataset'],
  'bigquery.jobs.create': ['BigQuery Job User (roles/bigquery.jobUser)', 'project'],
}

function withRole(thrown: unknown, { email }: ServiceAccount, at: Dataset): unknown {
  if (!(thrown instanceof GoogleFailure) || thrown.reason !== 'forbidden') return thrown
  const permission = /\bbigquery\.(datasets|tables|jobs)\.[a-zA-Z]+/.exec(thrown.facts.said ?? '')?.[0]
  const [role, on] = ROLES[permission ?? 'bigquery.tables.get'] ?? [`a role with ${permission}`, 'dataset']
  const missing = on === 'project' ? `the project ${at.project}` : `the dataset ${at.project}.${at.dataset}`
  return new GoogleFailure('forbidden', `${email} has no access: give it the role ${role} on ${missing}`, thrown.facts)
}

interface EventCounts {
  /** Bytes that the query read. */
  bytes: number
  /** All requested events; 0 for those that are not in the table. */
  counts: Readonly<Record<string, number>>
}

/** Characters that BigQuery allows in names. Anything else between the backticks could inject SQL. */
const PROJECT = /^[a-z0-9.:-]{1,100}$/
const NAME = /^\w{1,1024}$/

/** Whether the names are safe in a query. */
export const areNames = (project: string, dataset: string): boolean => PROJECT.test(project) && NAME.test(dataset)

/**
 * Reads one table, because `events_*` would include the intraday table and count a day twice, and only one of its columns.
 *
 * @throws GoogleFailure `bad_request` when a name is not valid
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

/**
 * Reads rows such as `{ f: [{ v: 'purchase' }, { v: '12' }] }`.
 *
 * @throws GoogleFailure `bad_answer`
 */
function readCounts(json: JsonRecord, events: readonly string[]): Readonly<Record<string, number>> {
  const counted = recordsOf(json.rows).map((row) => {
    const [name, count] = recordsOf(row.f)
    const [event, n] = [textOf(name?.v), wholeNumberOf(count?.v)]
    if (event === null || n === null) throw new GoogleFailure('bad_answer', 'The BigQuery API answered no counts')
    return [event, n] as const
  })
  return { ...Object.fromEntries(events.map((event) => [event, 0])), ...Object.fromEntries(counted) }
}
