import { sign } from 'node:crypto'
import { isObject, MINUTE, parseForeignJson, SECOND, unlessAborted } from '../../lib/index.ts'
import type { Outbound } from '../../outbound/index.ts'
import type { GoogleCredentials } from '../probe-type.ts'
import { GoogleFailure, googleErrorOf, reasonOf, textOf, unreachable } from './failure.ts'

/** What a run asks with. */
export interface Caller {
  outbound: Outbound
  /** Aborted when the run's time is over. */
  signal: AbortSignal
  timeoutMs: number
  /** When the run started, epoch ms. */
  now: number
}

/** A token is given up this long before its end, so that it does not end on the way; no run takes longer than a minute. */
const SPARE_MS = 2 * MINUTE
const TOKEN_TIMEOUT_MS = 10 * SECOND
const TOKEN_BYTES = 64 * 1_024

interface Token {
  text: string
  /** Epoch ms. */
  goodUntil: number
}

/**
 * Access tokens of one service account, one per scope, kept until shortly before their end.
 *
 * Not `google-auth-library`: version 10.9 installs 23 packages of 12 MB, for the one request that is needed here. It makes it
 * with an HTTP client of its own, which would go round the checks of outgoing requests: where to (`token_uri`) is said by a file
 * that someone handed us.
 */
export class AccessTokens {
  readonly #credentials: GoogleCredentials
  readonly #kept = new Map<string, Token>()
  readonly #asked = new Map<string, Promise<string>>()

  constructor(credentials: GoogleCredentials) {
    this.#credentials = credentials
  }

  /** @throws GoogleFailure, or what the signal was aborted with */
  async get(scope: string, { outbound, signal, now }: Caller): Promise<string> {
    const kept = this.#kept.get(scope)
    if (kept !== undefined && now < kept.goodUntil) return kept.text
    // Hundreds of probes may start at once: one of them asks for all, and so the end of its run must not end the request.
    let asked = this.#asked.get(scope)
    if (asked === undefined) {
      asked = this.#ask(scope, outbound, now).finally(() => this.#asked.delete(scope))
      this.#asked.set(scope, asked)
    }
    return unlessAborted(signal, asked)
  }

  /** An API did not take it: it may have been revoked. */
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
    // It goes into a header as it is.
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

/** A token server refuses a wrong key with 400 `invalid_grant` or 401 `invalid_client`. */
function refusal(status: number, json: unknown, email: string): GoogleFailure {
  const googleError = googleErrorOf(status, json)
  const reason = reasonOf(googleError)
  const isBusy = reason === 'quota' || reason === 'unavailable'
  const said = googleError.said === '' ? '' : `: ${googleError.said.replace(/\.$/, '')}`
  const message = isBusy
    ? `Google's token server answers ${status}`
    : `Google does not accept the service account ${email} (${status})${said}. If its key was replaced, set GOOGLE_CREDENTIALS to the new one and restart`
  return new GoogleFailure(isBusy ? reason : 'refused', message, googleError)
}

/** The longest that Google accepts, seconds. */
const LIFETIME_S = 3_600

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * The signed JWT that a service account asks for an access token with (RFC 7523).
 *
 * @param now epoch ms
 * @throws GoogleFailure `bad_credentials` when the key is none
 */
function signedAssertion(credentials: GoogleCredentials, scope: string, now: number): string {
  const { client_email, private_key, token_uri } = credentials
  const issuedAt = Math.floor(now / 1_000)
  const claims = { iss: client_email, scope, aud: token_uri, iat: issuedAt, exp: issuedAt + LIFETIME_S }
  const unsigned = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`
  try {
    return `${unsigned}.${sign('sha256', Buffer.from(unsigned), private_key).toString('base64url')}`
  } catch {
    // What OpenSSL says of a key is of no use to people, and might quote from it.
    throw new GoogleFailure('bad_credentials', `The private key of ${client_email} cannot be read`)
  }
}
