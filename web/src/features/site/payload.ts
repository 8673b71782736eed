import type { RecentAnswer } from '../../api/analytics.ts'
import { counted } from '../../lib/words.ts'
import { fieldName } from './words.ts'

export type Payload = RecentAnswer['accepted'][number]

/** A stored payload in the words of the table. */
export interface PayloadSummary {
  what: string
  container: string
  tags: string
  isBad: boolean
  /** The fields that were present; "" when none were reported. */
  userData: string
  ecommerce: string
}

export function summaryOf(payload: Payload): PayloadSummary {
  const body: Readonly<Record<string, unknown>> = { ...payload }
  const container = text(body.container_id)
  const summary = body.batch === true ? ofBatch(body) : ofEvent(body)
  return {
    ...summary,
    container,
    what: body.preview === true ? `${summary.what} (${uncounted(payload)})` : summary.what,
  }
}

/** The environment named in a payload; empty for a preview, for which the tag names none. */
export function environmentOf(payload: Payload): string {
  const body: Readonly<Record<string, unknown>> = { ...payload }
  return text(objectOf(body.container).environment)
}

/** Why a payload was not counted. */
function uncounted(payload: Payload): string {
  const environment = environmentOf(payload)
  return environment === '' ? 'preview' : `environment “${environment}”, not counted`
}

function ofEvent(body: Readonly<Record<string, unknown>>): Omit<PayloadSummary, 'container'> {
  const tags = Array.isArray(body.tags) ? (body.tags as unknown[]) : []
  const bad = tags.filter((tag) => objectOf(tag).status !== 'success').length
  const weight = numberOf(body.weight)
  return {
    what: weight > 1 ? `${text(body.event_name)} × ${weight}` : text(body.event_name),
    tags: tagsInWords(tags.length, bad),
    isBad: bad > 0,
    userData: flags(body.user_data),
    ecommerce: flags(body.ecommerce),
  }
}

const BAD = ['failure', 'timeout', 'exception']

function ofBatch(body: Readonly<Record<string, unknown>>): Omit<PayloadSummary, 'container'> {
  const metrics = Object.values(objectOf(body.tag_metrics)).map(objectOf)
  const bad = metrics.reduce((sum, metric) => sum + BAD.reduce((of, outcome) => of + numberOf(metric[outcome]), 0), 0)
  return {
    what: `batch of ${counted(numberOf(body.total_events), 'event')}`,
    tags: tagsInWords(metrics.length, bad),
    isBad: bad > 0,
    userData: counts(body.user_data_quality),
    ecommerce: counts(body.ecommerce_quality),
  }
}

const tagsInWords = (tags: number, bad: number): string => (bad === 0 ? String(tags) : `${tags}, ${bad} failed`)

/** `{ has_email: true, has_phone: false }` is "email". */
function flags(value: unknown): string {
  const present = Object.entries(objectOf(value)).filter(([, isThere]) => isThere === true)
  return present.map(([name]) => fieldName(name.replace(/^has_/, ''))).join(', ')
}

/** `{ total: 20, email: 12 }` is "email 12 of 20". */
function counts(value: unknown): string {
  const { total, ...fields } = objectOf(value)
  const known = Object.entries(fields).filter(([, count]) => typeof count === 'number')
  if (typeof total !== 'number' || known.length === 0) return ''
  return `${known.map(([name, count]) => `${fieldName(name)} ${String(count)}`).join(', ')} of ${total}`
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const REASONS: Readonly<Record<string, string>> = {
  invalid_payload: 'Not as the API expects',
  payload_too_large: 'Larger than 1 MB',
  forbidden: 'The site or its client is paused, or the key has ended',
  rate_limited: 'More than the plan allows',
  unavailable: 'The service was overloaded',
  unauthorized: 'The key was not in the key header',
  method_not_allowed: 'Not a POST',
  not_found: 'Sent to an address other than /ingest',
}

export const reasonInWords = (reason: string): string => REASONS[reason] ?? reason
