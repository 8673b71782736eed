import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Clock } from '../../../src/lib/index.ts'
import { startAnswering } from '../../../testkit/listeners.ts'

export const CLIENT = { id: 'tagwarden', secret: 'secret-of-the-client-0123456789' }

/** Made once: a pair costs a fifth of a second, more than the rest of a test. */
const [OWN, FOREIGN] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])

/** What the provider says next. */
export interface Script {
  /** Instead of and besides the claims of a good ID token; undefined leaves one out. */
  claims: Record<string, unknown>
  /** Who signs: a key of the provider, or one that it does not know. */
  signer: 'own' | 'foreign'
  /** What the userinfo endpoint says. */
  info: Record<string, unknown>
  /** Instead of the answer of the token endpoint. */
  tokenAnswer: { status: number; body: string } | null
  /** Instead of every answer. */
  isDown: boolean
}

export interface WrittenProvider {
  issuer: string
  script: Script
  /** Requests by path. */
  asked: Map<string, number>
  /** Bodies of requests to the token endpoint. */
  exchanges: { form: URLSearchParams; authorization: string }[]
  /** The nonce that the next token has, as a provider takes it from the address that the browser is sent to. */
  nonce: string
}

/** A provider that signs real tokens of what a test writes, right or wrong. It shows no page: tests go back by hand. */
export async function startWrittenProvider(t: TestContext, clock: Clock): Promise<WrittenProvider> {
  const jwk = { ...(await exportJWK(OWN.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const seconds = () => Math.floor(clock.now() / 1_000)
  const provider: WrittenProvider = {
    issuer: '',
    script: { claims: {}, signer: 'own', info: {}, tokenAnswer: null, isDown: false },
    asked: new Map(),
    exchanges: [],
    nonce: '',
  }
  const idToken = async (): Promise<string> => {
    const { claims, signer } = provider.script
    const good = {
      iss: provider.issuer,
      aud: CLIENT.id,
      sub: 'ada',
      nonce: provider.nonce,
      iat: seconds(),
      exp: seconds() + 300,
      email: 'ada@agency.example',
      email_verified: true,
      name: 'Ada',
      groups: ['admins'],
    }
    const key = signer === 'own' ? OWN : FOREIGN
    return new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(key.privateKey)
  }
  const answers: Record<string, () => Promise<object> | object> = {
    '/.well-known/openid-configuration': () => ({
      issuer: provider.issuer,
      authorization_endpoint: `${provider.issuer}/authorize`,
      token_endpoint: `${provider.issuer}/token`,
      userinfo_endpoint: `${provider.issuer}/me`,
      jwks_uri: `${provider.issuer}/jwks`,
      end_session_endpoint: `${provider.issuer}/end`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/jwks': () => ({ keys: [jwk] }),
    '/me': () => ({ sub: 'ada', ...provider.script.info }),
    '/token': async () => ({
      access_token: 'opaque',
      token_type: 'Bearer',
      expires_in: 300,
      id_token: await idToken(),
    }),
  }
  provider.issuer = await startAnswering(t, async (request, response) => {
    const path = request.url ?? ''
    provider.asked.set(path, (provider.asked.get(path) ?? 0) + 1)
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (path === '/token') {
      provider.exchanges.push({
        form: new URLSearchParams(body),
        authorization: request.headers.authorization ?? '',
      })
    }
    const { isDown, tokenAnswer } = provider.script
    const answer = answers[path]
    response.setHeader('content-type', 'application/json')
    // As RFC 6749, 5.2 wants it where a client has refused credentials in the header.
    if (tokenAnswer?.status === 401) response.setHeader('www-authenticate', 'Basic realm="provider"')
    if (isDown || answer === undefined) response.writeHead(isDown ? 503 : 404).end('{}')
    else if (path === '/token' && tokenAnswer !== null) response.writeHead(tokenAnswer.status).end(tokenAnswer.body)
    else response.end(JSON.stringify(await answer()))
  })
  return provider
}
