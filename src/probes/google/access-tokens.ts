import { sign } from 'node:crypto'
import { isObject, MINUTE, parseForeignJson, SECOND, unlessAborted } from '../../lib/index.ts'
import type { Outbound } from '../../outbound/index.ts'
import type { GoogleCredentials } from '../probe-type.ts'
import { GoogleFailure, googleErrorOf, reasonOf, textOf, unreachable } from './failure.ts'

/** What the requests of a run need. */
export interface Caller {
  outbound: Outbound
  /** Aborted when the run's time is over. */
  signal: AbortSignal
  timeoutMs: number
  /** When the run started, epoch ms. */
  now: number
}

/** A token is dropped this long before it expires, so that it lasts for a whole run, at most a minute. */
const SPARE_MS = 2 * MINUTE
const TOKEN_TIMEOUT_MS = 10 * SECOND
const TOKEN_BYTES = 64 * 1_024

interface Token {
  text: string
  /** Epoch ms. */
  goodUntil: number
}

/**
 * Access tokens of one service account, one per scope, kept until shortly before they expire.
 *
 * Not `google-auth-library`: version 10.9 installs 23 packages of 12 MB for the one request needed here. It also uses its own
 * HTTP client, which would bypass the checks of outgoing requests, although the address (`token_uri`) comes from a file that
 * someone gave us.
 */
export class AccessTokens {
  readonly #credentials: GoogleCredentials
  readonly #kept = new Map<string, Token>()
  readonly #asked = new Map<string, Promise<string>>()

  constructor(credentials: GoogleCredentials) {
    this.#credentials = credentials
  }

  /** @throws GoogleFailure, or the reason that the signal was aborted with */
  async get(scope: string, { outbound, signal, now }: Caller): Promise<string> {
    const kept = this.#kept.get(scope)
    if (kept !== undefined && now < kept.goodUntil) return kept.text
    // Hundreds of probes may start at once and share one request, so it must not end with the run that made it.
    let asked = this.#asked.get(scope)
    if (asked === undefined) {
      asked = this.#ask(scope, outbound, now).finally(() => this.#asked.delete(scope))
      this.#asked.set(scope, asked)
    }
    return unlessAborted(signal, asked)
  }

  /** Call it when an API refused the token: it may have been revoked. */
  forget(scope: string): void {
    this.#kept.delete(scope)
  }

  async #ask(scope: string, outbound: Outbound, now: number): Promise<string> {
    const { client_email, token_uri } = this.#credentials
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: signedAssertion(this.#credentials, scope, now),
    })
    const answer = await outbound
      .request(token_uri, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: body.toString(),
        limits: { totalMs: TOKEN_TIMEOUT_MS, bodyBytes: TOKEN_BYTES },
      })
      .catch((thrown: unknown) => {
        throw unreachable(thrown, "Google's token server")
      })
    const json = parseForeignJson(answer.body)
    if (answer.status !== 200) throw refusal(answer.status, json, client_email)
    const text = isObject(json) ? textOf(json.access_token) : null
    const seconds = isObject(json) ? json.expires_in : undefined
    // It is sent as a header value unchanged.
    if (text === null || !/^[\x21-\x7e]+$/.test(text) || typeof seconds !== 'number') {
      throw new GoogleFailure(
        'bad_answer',
        "Google's token server answered with something that is not an access token",
        {
          status: answer.status,
        },
      )
    }
    this.#kept.set(scope, { text, goodUntil: now + seconds * SECOND - SPARE_MS })
    return text
  }
}

/** “Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values …” */
const CLOCK = /reasonable timeframe/i

/** A token server refuses an invalid key with 400 `invalid_grant` or 401 `invalid_client`. */
function refusal(status: number, json: unknown, email: string): GoogleFailure {
  const googleError = googleErrorOf(status, json)
  const reason = reasonOf(googleError)
  const said = googleError.said === '' ? '' : `: ${googleError.said.replace(/\.$/, '')}`
  if (reason === 'quota' || reason === 'unavailable' || reason === 'bad_answer') {
    const between =
      reason === 'bad_answer' ? " without an error of Google's: check what lies in between, such as a proxy" : ''
    return new GoogleFailure(reason, `Google's token server answers ${status}${between}`, googleError)
  }
  const wayOut = CLOCK.test(said)
    ? "This server's clock is wrong: set it, and let NTP keep it"
    : 'If its key was replaced, set GOOGLE_CREDENTIALS to the new one and restart'
  const message = `Google does not accept the service account ${email} (${status})${said}. ${wayOut}`
  return new GoogleFailure('refused', message, googleError)
}

/** The longest that Google accepts, seconds. */
const LIFETIME_S = 3_600

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * Returns the signed JWT with which a service account requests an access token (RFC 7523).
 *
 * @param now epoch ms
 * @throws GoogleFailure `bad_credentials` when the key is not valid
 */
function signedAssertion(credentials: GoogleCredentials, scope: string, now: number): string {
  const { client_email, private_key, token_uri } = credentials
  const issuedAt = Math.floor(now / 1_000)
  const claims = { iss: client_email, scope, aud: token_uri, iat: issuedAt, exp: issuedAt + LIFETIME_S }
  const unsigned = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`
  try {
    return `${unsigned}.${sign('sha256', Buffer.from(unsigned), private_key).toString('base64url')}`
  } catch {
    // OpenSSL's message helps no one and might quote from the key.
    throw new GoogleFailure('bad_credentials', `The private key of ${client_email} cannot be read`)
  }
}
