import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type Configuration } from 'oidc-provider'
import { listen } from './listeners.ts'

/** What the provider says of someone. */
export interface Known {
  email: string
  name: string
  groups: string[]
}

export interface IdentityProvider {
  issuer: string
  /** By subject; a change counts from the next sign-in on. */
  people: Map<string, Known>
  /** Who signs in when the provider asks; null: the person who is asked says no. */
  whoSignsIn: string | null
  /** How often it asked. */
  asked: number
  /** Knows a service from now on. */
  register: (serviceUrl: string) => void
}

const LASTS_S = 600

export const OIDC_CLIENT = { id: 'tagwarden', secret: 'secret-of-the-client-0123456789' }

/**
 * A certified OpenID provider on a free port of this machine: it has sessions, asks who signs in (a page with one button), insists on
 * PKCE, and has a page to sign out. By the machine's clock.
 *
 * @param host by which browsers and services call it: `localhost` is another site than 127.0.0.1
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

/** Its own page asks another host for fonts. */
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
    // Told apart from the defaults, which it warns of.
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
    // No one is asked what the service may know.
    async loadExistingGrant({ oidc }) {
      if (oidc.client === undefined || oidc.session?.accountId === undefined) return undefined
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}
