import { sign } from 'node:crypto'
import type { GoogleCredentials } from '../settings.ts'
import { GoogleFailure } from './failure.ts'

/** The longest that Google accepts, seconds. */
const LIFETIME_S = 3_600

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * The signed JWT that a service account asks for an access token with (RFC 7523).
 *
 * @param now epoch ms
 * @throws GoogleFailure `bad_credentials` when the key is none
 */
export function signedAssertion(credentials: GoogleCredentials, scope: string, now: number): string {
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
