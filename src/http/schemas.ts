import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { ERROR_STATUS, type ErrorCode, firstIdAt, invalidRequest, isUuid } from '../lib/index.ts'
import { isIsoTime } from './formats.ts'

export const Uuid = Type.String({ format: 'uuid' })
export const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC, with milliseconds' })

/**
 * A single-type schema (or a list of values) that also accepts null. Uses `type: [x, 'null']` and not a union, so that a fault
 * says what is allowed instead of naming every branch that failed.
 */
export function nullable<T extends TSchema & { type?: string; enum?: readonly unknown[] }>(schema: T) {
  const type = [schema.type ?? 'string', 'null']
  const values = schema.enum === undefined ? {} : { enum: [...schema.enum, null] }
  return Type.Unsafe<Static<T> | null>({ ...schema, ...values, type })
}

/** A record that the API description has under this name once; calls refer to it, so that generated clients have one type for it. */
export function model<P extends TProperties>(name: string, properties: P): TObject<P> {
  return Type.Object(properties, { title: name })
}

const codes = Object.keys(ERROR_STATUS) as ErrorCode[]

export const ErrorBody = Type.Object(
  {
    error: Type.Enum(codes, { description: 'What happened, for programs' }),
    message: Type.String({ description: 'What happened, for people' }),
    details: Type.Array(
      Type.Object({
        path: Type.String({ description: 'JSON pointer to the field or parameter; in CSV, `line 3`' }),
        message: Type.String(),
      }),
    ),
  },
  { $id: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

const errorRef = (description: string) => ({
  description,
  content: { 'application/json': { schema: Type.Unsafe<ErrorBody>({ $ref: 'Error#' }) } },
})

const ERROR_RESPONSES = {
  400: errorRef('A field or parameter is missing, unknown or not valid; `details` names each'),
  401: errorRef('The key is missing or not valid'),
  403: errorRef('The key does not allow this, or the call comes from a page of another website'),
  404: errorRef('Not found'),
  409: errorRef('Conflicts with the current state'),
  413: errorRef('The body is too large'),
  422: errorRef('The `Idempotency-Key` was already used with a different request'),
  429: errorRef(
    'Too many failed sign-ins or requests from this address, too many changes by this account or API token, or more of these calls than are allowed in a time; `Retry-After` says when to try again',
  ),
  500: errorRef('An error inside the service'),
  503: errorRef('The service cannot answer at the moment'),
}
type Status = keyof typeof ERROR_RESPONSES

const ALWAYS = [401, 403, 429, 500, 503] as const

/** The error part of a route's `response` schema: the given statuses and those that any route can answer. */
export function errorResponses<S extends Status = never>(...statuses: S[]) {
  const entries = [...ALWAYS, ...statuses].map((status) => [status, ERROR_RESPONSES[status]])
  return Object.fromEntries(entries) as Pick<typeof ERROR_RESPONSES, S | (typeof ALWAYS)[number]>
}

/** Response schema of a deletion: no body. */
export const NoContent = Type.Null({ description: 'Done' })

/** The application that rooms add their routes to; a route's TypeBox schemas are the types of its handler. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export const DEFAULT_PAGE = 100
export const MAX_PAGE = 1_000

/** Query parameter of every paged list. */
export const Limit = Type.Integer({
  minimum: 1,
  maximum: MAX_PAGE,
  default: DEFAULT_PAGE,
  description: 'Maximum number of entries',
})

export interface Page<T> {
  entries: T[]
  /** `before` or `after` of the next page, or null on the last one. */
  next: string | null
}

/** Cuts `limit + 1` fetched entries to a page; the extra entry shows that there are more. */
export function pageOf<T>(fetched: readonly T[], limit: number, idOf: (entry: T) => string): Page<T> {
  const entries = fetched.slice(0, limit)
  const last = entries.at(-1)
  return { entries, next: fetched.length > limit && last !== undefined ? idOf(last) : null }
}

/** Sets `Link: <…>; rel="next"`: this request's own address with another `before`, or `after`. */
export function linkNextPage(
  request: FastifyRequest,
  reply: FastifyReply,
  next: string | null,
  parameter: 'before' | 'after' = 'before',
): void {
  if (next === null) return
  const [path = '', ...query] = request.url.split('?')
  // A question mark in a value need not be encoded.
  const parameters = new URLSearchParams(query.join('?'))
  parameters.set(parameter, next)
  reply.header('link', `<${path}?${parameters}>; rel="next"`)
}

/** The entries of a page, with the link to the next one in the headers. */
export function linkedEntries<T>(request: FastifyRequest, reply: FastifyReply, { entries, next }: Page<T>): T[] {
  linkNextPage(request, reply, next)
  return entries
}

/**
 * The id that `before` stands for, in a list ordered by ids that begin with their time: every entry's id has to be below it.
 *
 * @param what the name of an entry, for the message: `a result`
 * @throws AppError `invalid_request` when it is neither an id nor a time
 */
export function idBefore(before: string, what: string): string {
  if (isUuid(before)) return before.toLowerCase()
  if (isIsoTime(before)) return firstIdAt(Date.parse(before))
  throw invalidRequest('/before', `must be the id of ${what} or an ISO 8601 time`)
}
