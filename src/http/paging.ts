import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { firstIdAt, invalidRequest, isUuid } from '../lib/index.ts'
import { isIsoTime } from './formats.ts'

export const DEFAULT_PAGE = 100
const MAX_PAGE = 1_000

/** Query parameter of every paged list. */
export const Limit = Type.Integer({
  minimum: 1,
  maximum: MAX_PAGE,
  default: DEFAULT_PAGE,
  description: 'Entries at most',
})

export interface Page<T> {
  entries: T[]
  /** `before` of the next page, or null on the last one. */
  next: string | null
}

/** Cuts `limit + 1` fetched entries to a page; the entry too many is how it knows that there are more. */
export function pageOf<T>(fetched: readonly T[], limit: number, idOf: (entry: T) => string): Page<T> {
  const entries = fetched.slice(0, limit)
  const last = entries.at(-1)
  return { entries, next: fetched.length > limit && last !== undefined ? idOf(last) : null }
}

/** Sets `Link: <…>; rel="next"`: this request's own address with another `before`. */
export function linkNextPage(request: FastifyRequest, reply: FastifyReply, next: string | null): void {
  if (next === null) return
  const [path = '', query = ''] = request.url.split('?', 2)
  const parameters = new URLSearchParams(query)
  parameters.set('before', next)
  reply.header('link', `<${path}?${parameters}>; rel="next"`)
}

/**
 * What `before` stands for in a list ordered by ids that begin with their time: every entry's id has to be below it.
 *
 * @param what an entry is, for the message: `a result`
 * @throws AppError `invalid_request` when it is neither an id nor a time
 */
export function idBefore(before: string, what: string): string {
  if (isUuid(before)) return before.toLowerCase()
  if (isIsoTime(before)) return firstIdAt(Math.max(0, Date.parse(before)))
  throw invalidRequest('/before', `must be the id of ${what} or an ISO 8601 time`)
}
