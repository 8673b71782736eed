import { generateKeyPairSync, verify } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { GoogleCredentials } from '../../../src/probes/index.ts'
import { NOW } from '../../../testkit/clock.ts'
import { httpServer } from '../../outbound/support.ts'

const KEYS = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
export const EMAIL = 'probe@acme-tags.iam.gserviceaccount.com'

/** What an API answers: a status with JSON, or a text as it is. */
export type Reply = ({ json: unknown } | { text: string }) & { status?: number; location?: string }

export interface ReceivedRequest {
  method: string
  /** With the query. */
  path: string
  body: string
}

export interface GoogleServer {
  url: string
  credentials: GoogleCredentials
  /** What came with a good token, in its order. */
  asked: ReceivedRequest[]
  /** Scopes that tokens were given out for, in their order. */
  tokens: string[]
  /** Makes every token that was given out invalid. */
  revoke: () => void
}

/** How Google says no. */
export const googleError = (status: number, message: string, reason: string, domain = 'global'): Reply => ({
  status,
  json: { error: { code: status, message, errors: [{ message, domain, reason }] } },
})

/**
 * A token server and APIs behind it. The token server takes only what Google's would: a JWT that is signed with the account's
 * key, for this server, fresh, and not good for more than an hour. The APIs take only its tokens, for their own scope.
 */
export async function googleServer(
  t: TestContext,
  scope: string,
  answer: (asked: ReceivedRequest) => Reply | undefined,
  lifetimeSeconds = 3_600,
): Promise<GoogleServer> {
  const good = new Map<string, string>()
  const tokens: string[] = []
  const asked: ReceivedRequest[] = []
  const server = await httpServer(t, (request, response) => {
    void handle(request, response)
  })
  const url = `http://127.0.0.1:${server.port}`
  const token_uri = `${url}/token`

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const body = await text(request)
    const reply =
      path === '/token' ? giveToken(body) : askApi(request.headers.authorization, request.method, path, body)
    response.writeHead(reply.status ?? 200, {
      'content-type': 'application/json; charset=UTF-8',
      ...(reply.location === undefined ? {} : { location: reply.location }),
    })
    response.end('json' in reply ? JSON.stringify(reply.json) : reply.text)
  }

  function giveToken(body: string): Reply {
    const form = new URLSearchParams(body)
    const fault = assertionFault(form, token_uri)
    if (typeof fault === 'string') return { status: 400, json: { error: 'invalid_grant', error_description: fault } }
    tokens.push(fault.scope)
    const token = `ya29.${tokens.length}`
    good.set(token, fault.scope)
    return { json: { access_token: token, expires_in: lifetimeSeconds, token_type: 'Bearer' } }
  }

  function askApi(authorization: string | undefined, method = 'GET', path: string, body: string): Reply {
    if (good.get(authorization?.replace(/^Bearer /, '') ?? '') !== scope) {
      return googleError(401, 'Request had invalid authentication credentials.', 'authError')
    }
    asked.push({ method, path, body })
    return answer({ method, path, body }) ?? googleError(404, `Not found: ${path}`, 'notFound')
  }

  const credentials = { client_email: EMAIL, private_key: KEYS.privateKey, token_uri }
  return { url, credentials, asked, tokens, revoke: () => good.clear() }
}

function assertionFault(form: URLSearchParams, audience: string): string | { scope: string } {
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return 'Unsupported grant type'
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
  const signed = Buffer.from(`${header}.${claims}`)
  if (!verify('sha256', signed, KEYS.publicKey, Buffer.from(signature, 'base64url'))) return 'Invalid JWT Signature.'
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  const { alg, typ } = read(header)
  const { iss, scope, aud, iat, exp } = read(claims)
  if (alg !== 'RS256' || typ !== 'JWT') return 'Invalid JWT header'
  if (iss !== EMAIL || aud !== audience || typeof scope !== 'string') return 'Invalid JWT claims'
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp - iat > 3_600 || exp <= iat) return 'Invalid lifetime'
  // Tests move their clock by weeks; no later than it is there.
  if (iat * 1_000 < NOW - 60_000) return 'Token must be in a reasonable timeframe'
  return { scope }
}

/** A key that the server does not know. */
export const otherKey = (): string =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey
