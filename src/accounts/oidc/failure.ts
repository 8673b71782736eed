import { asError } from '../../lib/index.ts'
import { OutboundError } from '../../outbound/index.ts'

/**
 * Why a sign-in with the provider failed, as one word; the sign-in page has the sentences
 * (web/src/features/sign-in/SignInPage.tsx):
 * - `refused`: the person or the provider declined
 * - `expired`: it took too long, or was begun elsewhere
 * - `provider`: the provider is unavailable, or its answer is wrong
 * - `setup`: the provider refuses our request, and will until someone changes the settings, here or there
 * - `token`: the provider's assertion is not meant for us, or not from it
 * - `clock`: the assertion's time is wrong
 * - `email`: no verified address
 * - `taken`: an account has this address and cannot be joined
 * - `two_step`: such an account requires a code, which the provider may not
 * - `no_role`: no group gives access
 * - `disabled`: the account is disabled
 * - `full`: there is no room for another account
 * - `busy`: too many attempts
 * - `service`: a failure on our side
 */
export type SignInProblem =
  | 'refused'
  | 'expired'
  | 'provider'
  | 'setup'
  | 'token'
  | 'clock'
  | 'email'
  | 'taken'
  | 'two_step'
  | 'no_role'
  | 'disabled'
  | 'full'
  | 'busy'
  | 'service'

/** A failed sign-in. Its message is for the operator's log and contains no secret. */
export class SignInFailure extends Error {
  readonly problem: SignInProblem

  constructor(problem: SignInProblem, message: string) {
    super(message)
    this.name = 'SignInFailure'
    this.problem = problem
  }
}

/** Fields of the library's errors besides the message. */
interface Details {
  code?: unknown
  /** The error code in the provider's answer. */
  error?: unknown
  cause?: unknown
}

/** Codes of the library, see https://github.com/panva/oauth4webapi. */
const TOKEN_CODES: readonly string[] = [
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_MISSING_SERVER_METADATA',
  'ERR_JWT_SIGNATURE',
]
const CLOCK_CODE = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'

const CREDENTIALS = 'check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET'
/** Providers' error codes that another attempt would get again (RFC 6749, 4.1.2.1 and 5.2), and what to check. */
const SETUP_WORDS: ReadonlyMap<string, string> = new Map([
  ['invalid_client', CREDENTIALS],
  ['unauthorized_client', CREDENTIALS],
  ['invalid_scope', 'check OIDC_SCOPES'],
  ['invalid_request', "check the client's settings at the provider"],
  ['unsupported_response_type', "check the client's settings at the provider"],
])

/** Converts any error of a call to the provider to a `SignInFailure`. */
export function failureOf(thrown: unknown): SignInFailure {
  if (thrown instanceof SignInFailure) return thrown
  const chain = causesOf(thrown)
  const outbound = chain.find((error) => error instanceof OutboundError)
  if (outbound !== undefined) return new SignInFailure('provider', outbound.message)
  const word = chain.map(({ error }) => error).find((error) => typeof error === 'string')
  if (word !== undefined) {
    const way = SETUP_WORDS.get(word)
    if (way !== undefined) return new SignInFailure('setup', `the provider answers ${word}: ${way}`)
    const problem = word === 'access_denied' ? 'refused' : 'provider'
    return new SignInFailure(problem, `the provider answers ${printable(word)}`)
  }
  const codes = chain.map(({ code }) => code)
  const first = chain.at(-1)
  const message = first?.message ?? 'unknown'
  if (first?.cause instanceof Response) {
    const { url, status } = first.cause
    const isLasting = status >= 400 && status < 500 && status !== 429
    return new SignInFailure(isLasting ? 'setup' : 'provider', `${message}: ${url} answers ${status}`)
  }
  if (codes.includes(CLOCK_CODE)) return new SignInFailure('clock', message)
  if (codes.some((code) => typeof code === 'string' && TOKEN_CODES.includes(code))) {
    return new SignInFailure('token', message)
  }
  return new SignInFailure('provider', message)
}

/** The error and its causes, the root cause last. */
export function causesOf(thrown: unknown): (Error & Details)[] {
  const chain: (Error & Details)[] = []
  for (let error: unknown = asError(thrown); error instanceof Error && chain.length < 10; error = error.cause) {
    chain.push(error)
  }
  return chain
}

/** A third party's word, made safe for a log line. */
const printable = (word: string): string => word.slice(0, 80).replaceAll(/[^\w.:/ -]/g, '?')
