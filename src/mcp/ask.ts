import type { FastifyRequest, InjectOptions } from 'fastify'
import { type HttpApp, RateLimitedError } from '../http/index.ts'
import { AppError, fieldsOf } from '../lib/index.ts'

/** The API refused a call. The message is meant for the caller of a tool. */
export class RefusedCall extends Error {
  readonly status: number
  /** Seconds after which the call may be repeated; null when the API names none. */
  readonly retryAfter: number | null

  constructor(status: number, message: string, retryAfter: number | null) {
    super(message)
    this.name = 'RefusedCall'
    this.status = status
    this.retryAfter = retryAfter
  }
}

/**
 * Calls the API for a caller.
 *
 * @param query parameters; undefined ones are left out
 * @throws RefusedCall
 */
export type Ask = (
  method: 'GET' | 'POST',
  path: string,
  rest?: { query?: Readonly<Record<string, string | number | boolean | undefined>>; body?: object },
) => Promise<unknown>

/** The headers by which routes recognise who calls, from where and under which host name. */
const PASSED_ON = [
  'authorization',
  'cookie',
  'host',
  'origin',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
] as const

/**
 * Returns the API as the sender of a request sees it: every call goes through the routes with the sender's own credentials, so
 * there are no access rules besides those of the routes.
 */
export function askFor(app: HttpApp, request: FastifyRequest): Ask {
  const headers: Record<string, string> = {}
  for (const name of PASSED_ON) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const { remoteAddress } = request.raw.socket
  return async (method, path, { query = {}, body } = {}) => {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
    const options: InjectOptions = {
      method,
      url: parameters.size === 0 ? path : `${path}?${parameters}`,
      headers,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
      ...(body === undefined ? {} : { payload: body }),
    }
    const answer = await app.inject(options)
    const value: unknown = answer.payload === '' ? null : JSON.parse(answer.payload)
    if (answer.statusCode < 400) return value
    const { message } = fieldsOf(value)
    const retryAfter = Number(answer.headers['retry-after'] ?? Number.NaN)
    throw new RefusedCall(
      answer.statusCode,
      typeof message === 'string' ? message : `The call was answered ${answer.statusCode}`,
      Number.isFinite(retryAfter) ? retryAfter : null,
    )
  }
}

/**
 * Requires that the API knows the caller.
 *
 * @throws AppError `unauthorized`, RateLimitedError
 */
export async function requireKnown(ask: Ask): Promise<void> {
  try {
    const { role } = fieldsOf(await ask('GET', '/api/session'))
    if (typeof role === 'string') return
  } catch (thrown) {
    if (!(thrown instanceof RefusedCall)) throw thrown
    if (thrown.status === 429) throw new RateLimitedError(thrown.message, thrown.retryAfter ?? 1)
    throw new AppError(thrown.status === 401 ? 'unauthorized' : 'unavailable', thrown.message)
  }
  throw new AppError('unauthorized', 'A key is required: send "Authorization: Bearer …"')
}
