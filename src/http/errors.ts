import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, asError, ERROR_STATUS, type ErrorCode } from '../lib/index.ts'
import type { ErrorBody } from './schemas.ts'

/** A caller that has to wait. Answered with `Retry-After`. */
export class RateLimitedError extends AppError {
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** More than can be done for now, said in words of its own. Answered 503 with `Retry-After`. */
export class OverloadedError extends AppError {
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super('unavailable', message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const INTERNAL_TEXT = 'Something went wrong in the service; its log has the details'
const UNAVAILABLE_TEXT = 'The service cannot do this right now; try again in a moment'

/** What Fastify itself refuses, in our codes and words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, AppError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new AppError('payload_too_large', 'The body is too large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new AppError('invalid_request', 'The Content-Type must be application/json'),
  FST_ERR_CTP_INVALID_JSON_BODY: new AppError('invalid_request', 'The body is not valid JSON'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new AppError(
    'invalid_request',
    'The body does not have the length that Content-Length says',
  ),
  FST_ERR_BAD_URL: new AppError('not_found', 'Not found'),
  FST_ERR_MAX_PARAM_LENGTH: new AppError('not_found', 'Not found'),
}

/** Tells a temporary failure (the store is busy, full or closing) from a fault. */
export type IsPassing = (thrown: unknown) => boolean

/** Any thrown value as an error for the caller. What is not meant for callers becomes `internal_error`. */
export function callerError(thrown: unknown, isPassing: IsPassing): AppError {
  if (thrown instanceof AppError) return thrown
  if (isPassing(thrown)) return new AppError('unavailable', UNAVAILABLE_TEXT)
  return (thrown instanceof Error && frameworkError(thrown)) || new AppError('internal_error', INTERNAL_TEXT)
}

export function errorBody(error: AppError): ErrorBody {
  return { error: error.code, message: messageFor(error), details: [...error.details] }
}

/** Fastify's error handler: the whole truth to the log for a 5xx, the caller's part of it to the caller. */
export const errorHandler =
  (isPassing: IsPassing) => (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = callerError(thrown, isPassing)
    const status = ERROR_STATUS[error.code]
    const isExpected = error instanceof RateLimitedError || error instanceof OverloadedError
    if (status >= 500 && !isExpected) {
      request.log.error(
        { err: asError(thrown), method: request.method, route: request.routeOptions.url },
        'request failed',
      )
    }
    if (isExpected) reply.header('retry-after', error.retryAfterSeconds)
    if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
    reply.code(status).type('application/json; charset=utf-8').send(errorBody(error))
  }

/** Fastify's handler for what no route answers. */
export function refuseUnknownPath(request: FastifyRequest): never {
  throw new AppError('not_found', `There is no ${request.method} ${request.url.split('?', 1).join()}`)
}

// Even an AppError's own text stays inside when it is a 5xx: it was written for the log.
function messageFor(error: AppError): string {
  if (error.code === 'internal_error') return INTERNAL_TEXT
  if (error.code === 'unavailable' && !(error instanceof OverloadedError)) return UNAVAILABLE_TEXT
  return error.message
}

function frameworkError(thrown: Error): AppError | undefined {
  const known = 'code' in thrown ? FRAMEWORK_ERRORS[String(thrown.code)] : undefined
  if (known !== undefined) return known
  const status = 'statusCode' in thrown ? Number(thrown.statusCode) : 500
  return status >= 400 && status < 500
    ? new AppError(codeOfStatus(status), 'The request cannot be understood')
    : undefined
}

function codeOfStatus(status: number): ErrorCode {
  const entry = Object.entries(ERROR_STATUS).find(([, value]) => value === status)
  return (entry?.[0] as ErrorCode | undefined) ?? 'invalid_request'
}
