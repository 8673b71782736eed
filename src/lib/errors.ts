/** Every error that a caller of the API can get: its code and its HTTP status. */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** One fault in a request: where (a JSON pointer into body or query) and what. */
export interface ErrorDetail {
  path: string
  message: string
}

/** An error meant for the caller. Any room throws it; only the HTTP edge knows its status. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[]

  constructor(code: ErrorCode, message: string, details: readonly ErrorDetail[] = []) {
    super(message)
    this.name = 'AppError'
    this.code = code
    this.details = details
  }
}

export const notFound = (what: string): AppError => new AppError('not_found', `${what} not found`)

export const invalidRequest = (path: string, message: string): AppError =>
  new AppError('invalid_request', `${path} ${message}`, [{ path, message }])

/** A failed start: shown to the operator as one line, without a stack. */
export class StartupError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartupError'
  }
}

/** The code that Node, the system or a database gives an error, such as `ENOENT`; empty without one. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''

/** Any thrown value as an Error. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
