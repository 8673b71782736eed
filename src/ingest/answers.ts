import type { ServerResponse } from 'node:http'

/** The status of each ingest error; the key is the one field of the body. */
export const INGEST_ERRORS = {
  invalid_payload: 400,
  unauthorized: 401,
  forbidden: 403,
  method_not_allowed: 405,
  payload_too_large: 413,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const

export type IngestError = keyof typeof INGEST_ERRORS

// A string, because Node then writes head and body as one chunk; a buffer would make two.
const OK_BODY = '{"status":"ok"}'
// Name, value, name, value: Node uses this form as it is and builds no object for each answer.
const OK_HEADERS = ['Content-Type', 'application/json', 'Content-Length', String(OK_BODY.length)]

export function answerOk(response: ServerResponse): void {
  response.writeHead(200, OK_HEADERS)
  response.end(OK_BODY)
}

export interface ErrorAnswer {
  retryAfterSeconds?: number
  /** The body was not read to its end: call `discardRest` next, which ends the response. */
  closing?: boolean
  /** Why the caller's own key was refused, in characters that a header may hold. */
  why?: string
}

export function answerError(response: ServerResponse, error: IngestError, options: ErrorAnswer = {}): void {
  const body = `{"error":"${error}"}`
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length)]
  if (options.retryAfterSeconds !== undefined) headers.push('Retry-After', String(options.retryAfterSeconds))
  if (options.why !== undefined) headers.push('X-Refusal-Reason', options.why)
  if (error === 'method_not_allowed') headers.push('Allow', 'POST')
  if (options.closing === true) headers.push('Connection', 'close')
  response.writeHead(INGEST_ERRORS[error], headers)
  // Ending the response would make Node cut the connection; `discardRest` ends it once the sender has stopped.
  if (options.closing === true) response.write(body)
  else response.end(body)
}
