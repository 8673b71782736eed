import { fieldsOf, invalidRequest, storable } from '../../lib/index.ts'
import { isPushStatus, PUSH_STATUSES, type PushStatus } from './judge.ts'

/** What a call says. */
export interface Said {
  /** `start`: the job begins; the end is what counts. */
  status: PushStatus | 'start'
  /** One line, at most `MESSAGE_MAX` characters; empty where it says nothing. */
  message: string
  /** How long the job took, ms, as it says itself. */
  durationMs: number | null
}

export const MESSAGE_MAX = 300

/** What others who take such calls name theirs: their jobs need another address only. */
const ALIASES: Readonly<Record<string, PushStatus>> = { up: 'ok', down: 'critical', fail: 'critical' }
const DURATION_MAX_MS = 1e9

export interface PushCall {
  /** Behind the token: `fail`, `start`, an exit status. */
  signal: string | undefined
  query: Readonly<Record<string, unknown>>
  /** As it was sent; undefined without one. */
  body: string | undefined
  contentType: string
}

/**
 * Reads a call. The end of the address counts before the parameters, and those before the body; what is not known is left alone, so that calls
 * for other services come through.
 *
 * @throws AppError `invalid_request` when the status is none, or JSON is none
 */
export function readCall({ signal, query, body, contentType }: PushCall): Said {
  const sent = { ...bodyFields(body ?? '', contentType), ...given(query) }
  return {
    status: signal === undefined ? statusOf(sent.status) : statusOfSignal(signal),
    message: cleaned(textOf(sent.message) ?? textOf(sent.msg) ?? ''),
    durationMs: durationOf(sent.ping),
  }
}

/** An exit status, as `…/$?` of a shell sends it. */
function statusOfSignal(signal: string): Said['status'] {
  if (signal === 'start') return 'start'
  return signal === 'fail' || Number(signal) !== 0 ? 'critical' : 'ok'
}

function statusOf(status: unknown): PushStatus {
  if (status === undefined || status === '') return 'ok'
  const text = String(status).toLowerCase()
  const known = ALIASES[text] ?? text
  if (isPushStatus(known)) return known
  throw invalidRequest('/status', `must be one of ${PUSH_STATUSES.join(', ')}`)
}

type Fields = Readonly<Record<string, unknown>>

const given = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

/** A body is JSON, a form, or the message itself: output of a job, of which the end says most. */
function bodyFields(body: string, contentType: string): Fields {
  if (body.trim() === '') return {}
  if (/^application\/json\b/i.test(contentType)) return jsonFields(body)
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType) && /^(?:status|message|msg)=/.test(body)
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : { message: body }
}

function jsonFields(body: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw invalidRequest('', 'must have JSON as its body, as its Content-Type says')
  }
  return typeof value === 'string' ? { message: value } : fieldsOf(value)
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Controls, and what turns the direction of a text around or cannot be seen: a message may look like nothing else. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu
/** Of a long output, what is looked at: the pattern takes its time. */
const LOOKED_AT = 4 * MESSAGE_MAX

/** One line that every store and page takes. Of a long text the end: there stands what a job failed with. */
function cleaned(text: string): string {
  const end = storable(text.slice(-LOOKED_AT).toWellFormed()).replaceAll(UNSEEN, ' ').trim()
  const line = Array.from(end)
  return line.length <= MESSAGE_MAX && text.length <= LOOKED_AT ? end : `…${line.slice(1 - MESSAGE_MAX).join('')}`
}

function durationOf(ping: unknown): number | null {
  const length = typeof ping === 'string' || typeof ping === 'number' ? Number(ping) : Number.NaN
  return length >= 0 && length <= DURATION_MAX_MS ? Math.round(length) : null
}
