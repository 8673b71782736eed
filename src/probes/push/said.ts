import { fieldsOf, inOneLine, invalidRequest, storable } from '../../lib/index.ts'
import { isPushStatus, PUSH_STATUSES, type PushStatus } from './judge.ts'

/** What a call reports. */
export interface Said {
  /** `start`: the job begins; only its end counts. */
  status: PushStatus | 'start'
  /** One line of at most `MESSAGE_MAX` characters; empty without a message. */
  message: string
  /** How long the job says it took, ms. */
  durationMs: number | null
}

export const MESSAGE_MAX = 300

/** Words of other services for such calls, so that jobs only need another address. */
const ALIASES: Readonly<Record<string, PushStatus>> = { up: 'ok', down: 'critical', fail: 'critical' }
const DURATION_MAX_MS = 1e9

export interface PushCall {
  /** What follows the token: `fail`, `start` or an exit status. */
  signal: string | undefined
  query: Readonly<Record<string, unknown>>
  /** As sent; undefined without a body. */
  body: string | undefined
  contentType: string
}

/**
 * Reads a call. The end of the address takes precedence over parameters, and these over the body. Unknown fields are ignored,
 * so that calls written for other services work.
 *
 * @throws AppError `invalid_request` for an unknown status or invalid JSON
 */
export function readCall({ signal, query, body, contentType }: PushCall): Said {
  const sent = { ...bodyFields(body ?? '', contentType), ...given(query) }
  return {
    status: signal === undefined ? statusOf(sent.status) : statusOfSignal(signal),
    message: cleaned(textOf(sent.message) ?? textOf(sent.msg) ?? ''),
    durationMs: durationOf(sent.ping),
  }
}

/** `start`, `fail`, or an exit status as a shell sends it with `…/$?`. */
function statusOfSignal(signal: string): Said['status'] {
  if (signal === 'start') return 'start'
  return Number(signal) === 0 ? 'ok' : 'critical'
}

function statusOf(status: unknown): PushStatus {
  if (status === undefined || status === '') return 'ok'
  const text = textOf(status)?.toLowerCase() ?? ''
  const known = ALIASES[text] ?? text
  if (isPushStatus(known)) return known
  throw invalidRequest('/status', `must be one of ${PUSH_STATUSES.join(', ')}`)
}

type Fields = Readonly<Record<string, unknown>>

const given = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

/** A body is JSON, a form, or the message itself: a job's output, whose end says most. */
function bodyFields(body: string, contentType: string): Fields {
  if (body.trim() === '') return {}
  if (/^application\/json\b/i.test(contentType)) return jsonFields(body)
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType) && FORM.test(body)
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : { message: body }
}

/** curl sends any text as a form. A form has one of our fields, and before it no space, which an encoded form never has. */
const FORM = /^(?:[^\s=&]*=[^\s=&]*&)*(?:status|message|msg|ping)=/

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

/** How much of a long output is cleaned, because the pattern takes time. */
const LOOKED_AT = 4 * MESSAGE_MAX

/** Makes one line that every store and page accepts. Keeps the end of a long text, which says what a job failed with. */
function cleaned(sent: string): string {
  const text = sent.trimEnd()
  const end = inOneLine(storable(text.slice(-LOOKED_AT).toWellFormed()))
  const line = Array.from(end)
  return line.length <= MESSAGE_MAX && text.length <= LOOKED_AT ? end : `…${line.slice(1 - MESSAGE_MAX).join('')}`
}

function durationOf(ping: unknown): number | null {
  const length = typeof ping === 'string' || typeof ping === 'number' ? Number(ping) : Number.NaN
  return length >= 0 && length <= DURATION_MAX_MS ? Math.round(length) : null
}
