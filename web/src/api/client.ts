import type { ErrorBody } from '../../../src/http/index.ts'

type ErrorCode = ErrorBody['error']

/** An error answer of the service. `message` and `details` are for people, `code` is for programs. */
export class ApiError extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly details: ErrorBody['details']
  /** Seconds to wait before asking again; null when the service does not say. */
  readonly retryAfter: number | null

  constructor(status: number, body: ErrorBody, retryAfter: number | null) {
    super(body.message)
    this.name = 'ApiError'
    this.status = status
    this.code = body.error
    this.details = body.details
    this.retryAfter = retryAfter
  }

  /** What is wrong with one field of a form, from its JSON pointer (`/config/url`). */
  fault(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path)?.message
  }
}

/** No answer: the network or the service is down. A change may have been made before the connection was lost. */
export class UnreachableError extends Error {
  constructor(cause: unknown, isChange = false) {
    super(isChange ? 'No answer. It may have been saved: check before you try again' : 'Tagwarden cannot be reached', {
      cause,
    })
    this.name = 'UnreachableError'
  }
}

type Value = string | number | boolean | null | undefined

/** Query parameters; a list repeats the parameter for each value. */
export type Query = Readonly<Record<string, Value | readonly string[]>>

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  body?: unknown
  /** Sent unchanged, instead of a JSON body. */
  csv?: string
  /** Null and undefined values are left out. */
  query?: Query
  signal?: AbortSignal
}

/**
 * Timeouts, ms. A report waits up to 20 s and takes up to 30 s; things run on demand, such as a probe, have longer limits of their
 * own.
 */
const ANSWER_MS = { read: 60_000, write: 180_000 }

/** Idempotency keys of calls without an answer, by path, query and body: repeating one with its key does it only once. */
const keys = new Map<string, string>()

/**
 * Calls the public API. A browser that loses a connection may repeat a request, and so may a person: both send the first one's
 * idempotency key, so that the service creates only one thing. `ETag`s are left to the browser, which sends `If-None-Match` and
 * answers a 304 from its cache.
 *
 * @param path absolute, e.g. `/api/sites`
 * @returns the answer's body; `undefined` for 204
 * @throws ApiError, UnreachableError, or the signal's reason
 */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  if (options.method !== 'POST') return send(path, options)
  const asked = JSON.stringify([path, options.query, options.body])
  const key = keys.get(asked) ?? crypto.getRandomValues(new Uint32Array(4)).join('-')
  keys.set(asked, key)
  try {
    const answer = await send<T>(path, options, { 'idempotency-key': key })
    keys.delete(asked)
    return answer
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status < 500 && thrown.status !== 409) keys.delete(asked)
    throw thrown
  }
}

async function send<T>(path: string, options: RequestOptions, headers: Record<string, string> = {}): Promise<T> {
  const { method = 'GET', query = {}, signal } = options
  const limit = new AbortController()
  const isChange = method !== 'GET'
  const timer = setTimeout(() => limit.abort(), isChange ? ANSWER_MS.write : ANSWER_MS.read)
  const unreachable = (thrown: unknown): never => {
    if (signal?.aborted === true) throw thrown
    throw new UnreachableError(thrown, isChange)
  }
  try {
    const response = await fetch(withQuery(path, query), {
      method,
      ...contentOf(options, headers),
      signal: AbortSignal.any([limit.signal, ...(signal === undefined ? [] : [signal])]),
    }).catch(unreachable)
    if (response.status === 204) return undefined as T
    if (response.ok) return (await response.json().catch(unreachable)) as T
    throw await errorOf(response, isChange)
  } finally {
    clearTimeout(timer)
  }
}

function contentOf({ body, csv }: RequestOptions, headers: Record<string, string>): RequestInit {
  if (csv !== undefined) return { headers: { ...headers, 'content-type': 'text/csv' }, body: csv }
  if (body === undefined) return { headers }
  return { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** The address of a call, for links such as a CSV download. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value]
    return values.filter((one) => one !== null && one !== undefined).map((one): [string, string] => [name, String(one)])
  })
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

async function errorOf(response: Response, isChange: boolean): Promise<Error> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const body: unknown = await response.json().catch(() => null)
  // The answer is a proxy's, not the service's. With a status below 500 the proxy refused the request without passing it on.
  if (!isErrorBody(body)) {
    return new UnreachableError(`${response.status} ${response.statusText}`, isChange && response.status >= 500)
  }
  return new ApiError(response.status, body, Number.isFinite(retryAfter) ? retryAfter : null)
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'error' in body && 'message' in body && 'details' in body
}
