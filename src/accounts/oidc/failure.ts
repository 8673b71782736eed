import { asError } from '../../lib/index.ts'
import { OutboundError } from '../../outbound/index.ts'

/**
 * Why a sign-in with the provider came to nothing, in one word for the page of the sign-in, which has the sentences
 * (web/src/features/sign-in/SignInPage.tsx):
 * - `refused`: the person or the provider said no
 * - `expired`: it took too long, or was begun elsewhere
 * - `provider`: the provider is unavailable, or answers what it should not
 * - `setup`: it refuses what we ask, and will until someone changes the settings, here or there
 * - `token`: what the provider says of the person is not meant for us, or not from it
 * - `clock`: it is of another time
 * - `email`: no verified address
 * - `taken`: an account has this address and cannot be joined
 * - `two_step`: such an account asks for a code, which the provider may not
 * - `no_role`: no group gives access
 * - `disabled`: the account is
 * - `full`: there is no room for another account
 * - `busy`: too many tries
 * - `service`: we ourselves could not end it
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

/** A sign-in that came to nothing. The message is for the operator's log and holds no secret. */
export class SignInFailure extends Error {
  readonly problem: SignInProblem

  constructor(problem: SignInProblem, message: string) {
    super(message)
    this.name = 'SignInFailure'
    this.problem = problem
  }
}

/** What the library's errors carry besides their message. */
interface Details {
  code?: unknown
  /** The provider's own word, of its answers. */
  error?: unknown
  cause?: unknown
}

/** By the library's codes: https://github.com/panva/oauth4webapi names them. */
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
/** Words of providers that another try gets again (RFC 6749, 4.1.2.1 and 5.2), and what to look at. */
const SETUP_WORDS: ReadonlyMap<string, string> = new Map([
  ['invalid_client', CREDENTIALS],
  ['unauthorized_client', CREDENTIALS],
  ['invalid_scope', 'check OIDC_SCOPES'],
  ['invalid_request', "check the client's settings at the provider"],
  ['unsupported_response_type', "check the client's settings at the provider"],
])

/** Whatever a call to the provider failed with, in the one form that the routes know. */
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

/** The error and the errors that caused it, the first cause last. */
export function causesOf(thrown: unknown): (Error & Details)[] {
  const chain: (Error & Details)[] = []
  for (let error: unknown = asError(thrown); error instanceof Error && chain.length < 10; error = error.cause) {
    chain.push(error)
  }
  return chain
}

/** A word of a stranger as a log line may hold it. */
const printable = (word: string): string => word.slice(0, 80).replaceAll(/[^\w.:/ -]/g, '?')
