import type { IncomingMessage } from 'node:http'
import { IDEMPOTENCY_KEY_MAX, type Payload } from '../journal/index.ts'
import { excessOf } from '../lib/index.ts'
import { type Canaries, withoutCanaries } from './canaries.ts'
import { checkPayload } from './check.ts'

/** What a body contains, or what is wrong with it: `path` is a JSON pointer, or words. */
export type Judged =
  | {
      ok: true
      /** What to count; null when the body holds only canaries. It may have unknown fields: keep `knownFieldsOf` of it, never itself. */
      payload: Payload | null
      canaries: Canaries | null
    }
  | { ok: false; path: string }

const BYTE_ORDER_MARK = 0xfeff

/** Some senders put a byte order mark before their JSON, which `JSON.parse` rejects. */
export function textOf(bytes: Buffer): string {
  const text = bytes.toString()
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

/** Reads a body. The main thread reads small ones and another thread large ones, with the same answers. */
export function judgeBody(text: string): Judged {
  const excess = excessOf(text)
  if (excess !== null) return { ok: false, path: excess }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, path: 'not JSON' }
  }
  const checked = checkPayload(value)
  if (!checked.ok) return checked
  return { ok: true, ...withoutCanaries(checked.payload) }
}

const JSON_TYPE = /^application\/json\s*(;|$)/i

type JudgedHeaders = { ok: true; idempotencyKey: string | undefined } | { ok: false; path: string }

/** Checks the headers that concern the body. The body is read only when they are right. */
export function judgeHeaders(request: IncomingMessage): JudgedHeaders {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) return { ok: false, path: 'header Content-Type' }
  if (isEncoded(request)) return { ok: false, path: 'header Content-Encoding' }
  const idempotencyKey = idempotencyKeyOf(request)
  if (idempotencyKey !== undefined && idempotencyKey.length > IDEMPOTENCY_KEY_MAX) {
    return { ok: false, path: 'header Idempotency-Key' }
  }
  return { ok: true, idempotencyKey }
}

/** Compressed bodies are refused: no tag compresses, and a small body could expand to a huge one. */
function isEncoded(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding']
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity'
}

function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const value = request.headers['idempotency-key']
  return typeof value === 'string' && value !== '' ? value : undefined
}
