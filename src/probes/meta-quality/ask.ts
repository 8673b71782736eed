import { fieldsOf, parseForeignJson } from '../../lib/index.ts'
import { type Outbound, type OutboundAnswer, OutboundError } from '../../outbound/index.ts'
import { isNetworkFailure } from '../probe-type.ts'
import { type EventQuality, eventsIn } from './answer.ts'
import { MetaFailure, refusalOf, refusedField } from './failure.ts'

interface Caller {
  outbound: Outbound
  timeoutMs: number
  signal: AbortSignal
  /** When the run started, epoch ms. */
  now: number
}

interface Dataset {
  /** Includes the version, e.g. `https://graph.facebook.com/v25.0`. */
  apiUrl: string
  datasetId: string
  token: string
}

/** The requested fields of an event, by name. */
const FIELDS = {
  event_match_quality: 'event_match_quality{composite_score}',
  event_coverage: 'event_coverage{percentage,goal_percentage}',
  data_freshness: 'data_freshness{upload_frequency}',
} as const

type FieldName = keyof typeof FIELDS

export interface DatasetQuality {
  events: readonly EventQuality[]
  /** Fields that this version of the API does not have. */
  notOffered: readonly string[]
  tookMs: number
}

const ANSWER_BYTES = 1_024 * 1_024

/**
 * Requests the web events of a dataset from Meta's Dataset Quality API. Graph refuses a whole request for one unknown field,
 * so it is repeated without that field.
 *
 * @throws MetaFailure
 */
export async function askQuality(caller: Caller, dataset: Dataset): Promise<DatasetQuality> {
  let names = Object.keys(FIELDS) as FieldName[]
  const notOffered: string[] = []
  let tookMs = 0
  for (;;) {
    const answer = await askOnce(caller, dataset, names)
    tookMs += answer.timings.total
    const json = parseForeignJson(answer.body)
    const refused = refusedField(json)
    const name = names.find((one) => refused !== null && FIELDS[one].split(/[{},]/).includes(refused))
    if (name === undefined) return { events: eventsOf(answer, json, dataset, caller.now), notOffered, tookMs }
    names = names.filter((one) => one !== name)
    notOffered.push(name)
  }
}

/** The token is sent in a header, because addresses end up in logs. Redirects are not followed: the token is for this host only. */
async function askOnce(
  { outbound, timeoutMs, signal }: Caller,
  { apiUrl, datasetId, token }: Dataset,
  names: readonly FieldName[],
): Promise<OutboundAnswer> {
  const fields = `web{${['event_name', ...names.map((name) => FIELDS[name])].join(',')}}`
  const query = new URLSearchParams({ dataset_id: datasetId, fields })
  try {
    return await outbound.request(`${apiUrl}/dataset_quality?${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      limits: { totalMs: timeoutMs, bodyBytes: ANSWER_BYTES },
      signal,
    })
  } catch (thrown) {
    if (!(thrown instanceof OutboundError)) throw thrown
    const why = thrown.kind === 'aborted' ? `no answer within ${timeoutMs} ms` : thrown.message
    const facts = { isNetworkFailure: isNetworkFailure(thrown) }
    throw new MetaFailure('unreachable', `Meta could not be reached: ${why}`, facts)
  }
}

function eventsOf(answer: OutboundAnswer, json: unknown, dataset: Dataset, now: number): EventQuality[] {
  const { status, isTruncated } = answer
  // Graph has also answered errors with 200.
  if (status !== 200 || 'error' in fieldsOf(json)) throw refusalOf(answer, json, dataset, now)
  if (isTruncated) throw new MetaFailure('bad_answer', 'Meta answered with more than 1 MB', { status })
  if (json === undefined) {
    const message = 'Meta answered with something that is not JSON, or is too nested or too long'
    throw new MetaFailure('bad_answer', message, { status })
  }
  const events = eventsIn(json, dataset.token)
  if (events === null) throw new MetaFailure('bad_answer', 'Meta answered without a list of web events', { status })
  return events
}
