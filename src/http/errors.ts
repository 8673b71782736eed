import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, asError, ERROR_STATUS, type ErrorCode, Repeats, SECOND, systemClock } from '../lib/index.ts'
import type { ErrorBody } from './schemas.ts'

/** A caller that has to wait. Answered with `Retry-After`. */
export class RateLimitedError extends AppError {
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** @param what is beyond its limit; the message adds the wait, in whole seconds */
export function mustWait(what: string, waitMs: number): RateLimitedError {
  const seconds = Math.ceil(waitMs / SECOND)
  return new RateLimitedError(`${what}: wait ${seconds} s`, seconds)
}

/** For an account whose second step was guessed at. @param waitMs until the next code is checked */
export const tooManyCodes = (waitMs: number): RateLimitedError =>
  mustWait('Too many wrong codes for this account', waitMs)

/** More work than can be done now, with its own message. Answered 503 with `Retry-After`. */
export class OverloadedError extends AppError {
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super('unavailable', message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const INTERNAL_TEXT = 'Something went wrong in the service; its log has the details'
const UNAVAILABLE_TEXT = 'The service cannot do this right now; try again in a moment'

/** Fastify's own refusals, with our codes and texts. */
const FRAMEWORK_ERRORS: Readonly<Record<string, AppError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new AppError('payload_too_large', 'The body is too large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new AppError('invalid_request', 'The Content-Type must be application/json'),
  FST_ERR_CTP_INVALID_JSON_BODY: new AppError('invalid_request', 'The body is not valid JSON'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new AppError(
    'invalid_request',
    'The length of the body differs from Content-Length',
  ),
  FST_ERR_BAD_URL: new AppError('not_found', 'Not found'),
  FST_ERR_MAX_PARAM_LENGTH: new AppError('not_found', 'Not found'),
}

/** Whether a failure is temporary (the store is busy, full or closing). */
export type IsPassing = (thrown: unknown) => boolean

/** Converts any thrown value to an error for the caller. One that is not meant for callers becomes `internal_error`. */
function callerError(thrown: unknown, isPassing: IsPassing): AppError {
  if (thrown instanceof AppError) return thrown
  if (isPassing(thrown)) return new AppError('unavailable', UNAVAILABLE_TEXT)
  return (thrown instanceof Error && frameworkError(thrown)) || new AppError('internal_error', INTERNAL_TEXT)
}

function errorBody(error: AppError): ErrorBody {
  return { error: error.code, message: messageFor(error), details: [...error.details] }
}

/** Fastify's error handler: logs a 5xx in full, and tells the caller what is meant for them. */
export function errorHandler(isPassing: IsPassing) {
  const repeats = new Repeats(systemClock)
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = callerError(thrown, isPassing)
    const status = ERROR_STATUS[error.code]
    const isExpected = error instanceof RateLimitedError || error instanceof OverloadedError
    if (status >= 500 && !isExpected) {
      const { method, routeOptions } = request
      const err = asError(thrown)
      const repeated = repeats.passes(`${method} ${routeOptions.url}: ${err.message}`)
      if (repeated !== null) {
        request.log.error({ err, method, route: routeOptions.url, ...(repeated > 0 && { repeated }) }, 'request failed')
      }
    }
    if (isExpected) reply.header('retry-after', error.retryAfterSeconds)
    if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
    reply.code(status).type('application/json; charset=utf-8').send(errorBody(error))
  }
}

/** Fastify's handler for paths without a route. */
export function refuseUnknownPath(request: FastifyRequest): never {
  throw new AppError('not_found', `There is no ${request.method} ${request.url.split('?', 1).join()}`)
}

// Even an AppError's own text is hidden for a 5xx, because it was written for the log.
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
    ? new AppError(codeOfStatus(status), 'The request could not be parsed')
    : undefined
}

function codeOfStatus(status: number): ErrorCode {
  const entry = Object.entries(ERROR_STATUS).find(([, value]) => value === status)
  return (entry?.[0] as ErrorCode | undefined) ?? 'invalid_request'
}

const STATUS_BY_CODE: Readonly<Record<string, { line: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', message: 'The headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'The request took too long to arrive' },
}
const MALFORMED = { line: '400 Bad Request', message: 'The request is not valid HTTP' }

/** Sockets whose broken request waits for the answers to earlier ones. */
const waiting = new WeakSet<Socket>()

/** Expired connections ended in one turn of the event loop. */
const ENDED_PER_TURN = 50
const expired: (() => void)[] = []

/**
 * Answers what is not a valid HTTP request. Node checks for expired connections every few seconds and finds all at once: ending
 * thousands in one go would block everyone else.
 */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
    answer(error, socket)
    return
  }
  // A client that has not sent anything expects no answer.
  expired.push(() => (socket.bytesRead === 0 ? socket.destroy() : answer(error, socket)))
  if (expired.length === 1) setImmediate(endSome)
}

function endSome(): void {
  for (const end of expired.splice(0, ENDED_PER_TURN)) end()
  if (expired.length > 0) setImmediate(endSome)
}

/** There is no route or reply object yet, so the answer is written by hand, in the shape of every other error. */
function answer(error: ConnectionError, socket: Socket): void {
  // A peer that hung up cannot be answered.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  if (waiting.has(socket)) return
  const response = responseUnderWay(socket)
  if (response?.req.complete === true) {
    // Sent before another request's answer it would be taken for that answer, and within one it would corrupt it.
    waiting.add(socket)
    response.once('close', () => {
      waiting.delete(socket)
      answer(error, socket)
    })
    return
  }
  if (response?.headersSent === true) {
    // This request's own body broke, and it has its answer already.
    socket.end(() => socket.destroy())
    return
  }
  const { line, message } = STATUS_BY_CODE[error.code] ?? MALFORMED
  const full = { error: 'invalid_request', message, details: [] } satisfies ErrorBody
  const body = JSON.stringify(isForIngest(error) ? { error: full.error } : full)
  const type = 'Content-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff'
  const head = `${type}\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.end(`HTTP/1.1 ${line}\r\n${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy())
}

/** Errors of ingest have one field. The packet reveals the path if it begins with the request line. */
function isForIngest({ rawPacket }: ConnectionError): boolean {
  return Buffer.isBuffer(rawPacket) && /^[A-Z]+ \/(api\/)?ingest[/? ]/.test(rawPacket.toString('latin1', 0, 32))
}

/** The response that the socket is sending, from Node's private field: there is no public one. */
export function responseUnderWay(socket: Socket & { _httpMessage?: ServerResponse | null }): ServerResponse | null {
  return socket._httpMessage ?? null
}
