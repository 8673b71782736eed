import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type Configuration } from 'oidc-provider'
import { listen } from './listeners.ts'

/** The provider's claims about a person. */
export interface Known {
  email: string
  name: string
  groups: string[]
}

export interface IdentityProvider {
  issuer: string
  /** The people by subject; a change takes effect with the next sign-in. */
  people: Map<string, Known>
  /** The subject that signs in when the provider asks; null when the person declines. */
  whoSignsIn: string | null
  /** How often it asked for a sign-in. */
  asked: number
  /** Registers a service as a client. */
  register: (serviceUrl: string) => void
}

const LASTS_S = 600

export const OIDC_CLIENT = { id: 'tagwarden', secret: 'secret-of-the-client-0123456789' }

/**
 * Starts a certified OpenID provider on a free port of this machine, with sessions, a sign-in page with one button, mandatory PKCE and a
 * sign-out page. It uses the machine's clock.
 *
 * @param host in its address; to browsers, `localhost` is another site than 127.0.0.1
 */
export async function startIdentityProvider(t: TestContext, host = '127.0.0.1'): Promise<IdentityProvider> {
  const keys = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(keys.privateKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  let handle: ReturnType<Provider['callback']> | undefined
  let provider: Provider | undefined
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      if (provider === undefined || handle === undefined) throw new Error('the provider knows no service yet')
      const url = request.url ?? ''
      if (!url.startsWith('/interaction/')) return handle(request, response)
      if (request.method === 'POST') {
        const { whoSignsIn } = known
        known.asked += 1
        const result =
          whoSignsIn === null
            ? { error: 'access_denied', error_description: 'the person said no' }
            : { login: { accountId: whoSignsIn } }
        return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
      }
      response.setHeader('content-type', 'text/html')
      response.end(
        `<!doctype html><html lang="en"><title>Provider</title><main><h1>Provider</h1>
         <form method="post"><button>Continue</button></form></main></html>`,
      )
    }
    answer().catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  const issuer = `http://${host}:${await listen(server)}`
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const known: IdentityProvider = {
    issuer,
    people: new Map(),
    whoSignsIn: null,
    asked: 0,
    register(serviceUrl) {
      provider = new Provider(issuer, configurationFor(serviceUrl, known.people, { keys: [jwk] }))
      handle = provider.callback()
    },
  }
  return known
}

/** Replaces the provider's own page, which loads fonts from another host. */
async function logoutSource(ctx: { body: unknown }, form: string): Promise<void> {
  ctx.body = `<!doctype html><html lang="en"><title>Provider</title><main><h1>Provider</h1>${form}
    <button type="submit" form="op.logoutForm" value="yes" name="logout">Yes, sign me out</button></main></html>`
}

function configurationFor(
  serviceUrl: string,
  people: ReadonlyMap<string, Known>,
  jwks: Configuration['jwks'],
): Configuration {
  return {
    ...(jwks === undefined ? {} : { jwks }),
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        redirect_uris: [`${serviceUrl}/api/oidc/callback`],
        post_logout_redirect_uris: [`${serviceUrl}/sign-in`],
      },
    ],
    scopes: ['openid', 'email', 'profile'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    // Set explicitly, because it warns about its defaults.
    ttl: { AccessToken: LASTS_S, Grant: LASTS_S, IdToken: LASTS_S, Interaction: LASTS_S, Session: LASTS_S },
    cookies: { keys: ['the key of a test'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => {
      const person = people.get(sub)
      return person === undefined
        ? undefined
        : { accountId: sub, claims: () => ({ sub, email_verified: true, ...person }) }
    },
    // Skip asking for consent.
    async loadExistingGrant({ oidc }) {
      if (oidc.client === undefined || oidc.session?.accountId === undefined) return undefined
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}
