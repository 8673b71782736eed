import type { Configuration, ServerMetadata } from 'openid-client'
import { type Clock, HOUR, isObject, MINUTE, parseForeignJson, SECOND, Seal } from '../../lib/index.ts'
import { type Outbound, OutboundError } from '../../outbound/index.ts'
import { type Assertion, assertionOf, type Claims, hasTooManyGroups, saysAll } from './claims.ts'
import { causesOf, failureOf, SignInFailure } from './failure.ts'
import { guardedFetch } from './guarded-fetch.ts'

export interface OidcSettings {
  /** In the normal form of a URL. */
  issuer: string
  clientId: string
  clientSecret: string
  /** The provider's name for people. */
  name: string
  scopes: readonly string[]
  groupsClaim: string
  /** Whether an address counts as verified when the provider does not say. */
  trustsEmail: boolean
}

export interface OidcOptions {
  settings: OidcSettings
  outbound: Outbound
  clock: Clock
  /** Where people reach the service, without a trailing slash. */
  publicUrl: () => string
  warn: (facts: object, message: string) => void
}

/** A sign-in that was sent to the provider, as the browser keeps it. */
interface Pending {
  state: string
  nonce: string
  verifier: string
  returnTo: string
  /** Epoch ms. */
  begunAt: number
}

/** The provider's assertion about who signed in, and where the browser goes next. */
export interface Recognised {
  assertion: Assertion
  returnTo: string
  signOutHint: string | null
}

/** Time for signing in at the provider, ms: some require a second factor, or a new password. */
export const SIGN_IN_MS = 15 * MINUTE
/** How old the provider's metadata may be, ms. Older metadata is used when it cannot be fetched. */
const FRESH_MS = HOUR
/** Allowed difference between two synchronised clocks, seconds. */
const CLOCK_TOLERANCE_S = 60
/** Longer tokens, which name hundreds of groups, do not fit into an address. */
const LONGEST_HINT = 4_096

export const CALLBACK_PATH = '/api/oidc/callback'

/** The identity provider: authorization code flow with PKCE, state and nonce. */
export class OidcProvider {
  readonly settings: OidcSettings
  readonly #options: OidcOptions
  readonly #seal: Seal
  #known: { metadata: ServerMetadata; at: number } | undefined
  #look: Promise<ServerMetadata> | undefined

  constructor(options: OidcOptions) {
    this.settings = options.settings
    this.#options = options
    this.#seal = new Seal(options.settings.clientSecret)
  }

  /** Fetches the provider's metadata before anyone waits for it. A failure is only logged, as the service runs without it. */
  async prepare(): Promise<void> {
    try {
      await this.#metadata()
    } catch (thrown) {
      if (isEnding(thrown)) return
      const { message } = failureOf(thrown)
      this.#options.warn({ issuer: this.settings.issuer, reason: message }, 'the identity provider is unavailable')
    }
  }

  /**
   * Begins a sign-in.
   *
   * @returns where the browser goes, and what it has to bring back with the answer
   * @throws SignInFailure
   */
  async begin(returnTo: string): Promise<{ url: string; pending: string }> {
    return this.#call(async () => {
      const client = await library()
      const config = await this.#configuration()
      const verifier = client.randomPKCECodeVerifier()
      const [state, nonce] = [client.randomState(), client.randomNonce()]
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: this.#redirectUri,
        scope: this.settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      const pending: Pending = { state, nonce, verifier, returnTo, begunAt: this.#options.clock.now() }
      return { url: url.href, pending: this.#seal.close(JSON.stringify(pending), 'sign-in under way') }
    })
  }

  /**
   * Completes a sign-in with the provider's answer.
   *
   * @param search the query of the address to which the provider sent the browser
   * @param sealed what `begin` gave to the browser
   * @throws SignInFailure
   */
  async finish(search: string, sealed: string | undefined): Promise<Recognised> {
    const pending = this.#pendingOf(sealed)
    if (new URLSearchParams(search).get('state') !== pending.state) {
      throw new SignInFailure(
        'expired',
        "the answer's state differs from that of the sign-in that this browser started",
      )
    }
    return this.#call(async () => {
      const client = await library()
      const config = await this.#configuration()
      const tokens = await client.authorizationCodeGrant(config, new URL(this.#redirectUri + search), {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new SignInFailure('token', 'the provider sends no ID token')
      this.#requireIssuedByNow(claims.iat)
      const info = await this.#userInfo(config, tokens.access_token, claims)
      return {
        assertion: assertionOf(claims, info, this.settings),
        returnTo: pending.returnTo,
        signOutHint: this.#hintOf(tokens.id_token),
      }
    })
  }

  /**
   * Where the browser ends its session at the provider, which sends it back; null when the provider has no such page, or was never
   * reached. Metadata of any age will do, or a provider that hangs would hold up who signs out.
   */
  async signOutUrl(hint: string | null): Promise<string | null> {
    try {
      const client = await library()
      const config = await this.#configuration(this.#known?.metadata)
      if (config.serverMetadata().end_session_endpoint === undefined) return null
      const token = hint === null ? null : this.#seal.open(hint, 'sign-out hint')
      return client.buildEndSessionUrl(config, {
        post_logout_redirect_uri: `${this.#options.publicUrl()}/sign-in`,
        ...(token === null ? {} : { id_token_hint: token }),
      }).href
    } catch {
      // Our own session has ended, and nothing more was promised.
      return null
    }
  }

  get #redirectUri(): string {
    return this.#options.publicUrl() + CALLBACK_PATH
  }

  #pendingOf(sealed: string | undefined): Pending {
    const text = sealed === undefined ? null : this.#seal.open(sealed, 'sign-in under way')
    const pending = text === null ? null : parseForeignJson(text)
    if (!isPending(pending))
      throw new SignInFailure('expired', 'this browser did not start a sign-in, or has started another one since')
    if (this.#options.clock.now() - pending.begunAt > SIGN_IN_MS) {
      throw new SignInFailure('expired', `the sign-in took more than ${SIGN_IN_MS / MINUTE} minutes`)
    }
    return pending
  }

  /** A token from the future comes from a wrong clock; the library only checks its expiry. */
  #requireIssuedByNow(issuedAt: number): void {
    const ahead = issuedAt - this.#options.clock.now() / SECOND
    if (ahead > CLOCK_TOLERANCE_S) {
      throw new SignInFailure(
        'clock',
        `the ID token was issued ${Math.round(ahead)} s in the future by this machine's clock`,
      )
    }
  }

  /** Fetches what the ID token leaves out: many providers give address and groups only here. */
  async #userInfo(
    config: Configuration,
    accessToken: string,
    claims: Claims & { sub: string },
  ): Promise<Claims | null> {
    const { groupsClaim, issuer } = this.settings
    if (hasTooManyGroups(claims, groupsClaim)) {
      this.#options.warn(
        { issuer, subject: claims.sub },
        'the provider does not send the groups of a person who has too many',
      )
    }
    if (saysAll(claims, groupsClaim) || config.serverMetadata().userinfo_endpoint === undefined) return null
    const client = await library()
    return client.fetchUserInfo(config, accessToken, claims.sub)
  }

  #hintOf(token: string | undefined): string | null {
    return token === undefined || token.length > LONGEST_HINT ? null : this.#seal.close(token, 'sign-out hint')
  }

  /** Created for each call, because the library takes the clock skew at creation. */
  async #configuration(known?: ServerMetadata): Promise<Configuration> {
    const client = await library()
    const metadata = known ?? (await this.#metadata())
    const { clientId, clientSecret, issuer } = this.settings
    const skew = Math.floor(this.#options.clock.now() / SECOND) - Math.floor(Date.now() / SECOND)
    const authentication = authenticatesByPost(metadata) ? client.ClientSecretPost : client.ClientSecretBasic
    const config = new client.Configuration(
      metadata,
      clientId,
      { [client.clockSkew]: skew, [client.clockTolerance]: CLOCK_TOLERANCE_S },
      authentication(clientSecret),
    )
    config[client.customFetch] = guardedFetch(this.#options.outbound)
    if (isPlain(issuer)) client.allowInsecureRequests(config)
    // The token comes straight from the provider, but checking its signature costs little.
    client.enableNonRepudiationChecks(config)
    return config
  }

  /** Simultaneous callers share one fetch. After a failure the next caller fetches again. */
  async #metadata(): Promise<ServerMetadata> {
    const known = this.#known
    if (known !== undefined && Math.abs(this.#options.clock.now() - known.at) < FRESH_MS) return known.metadata
    this.#look ??= this.#discover().finally(() => {
      this.#look = undefined
    })
    try {
      return await this.#look
    } catch (thrown) {
      if (known === undefined) throw thrown
      return known.metadata
    }
  }

  async #discover(): Promise<ServerMetadata> {
    const client = await library()
    const { issuer, clientId } = this.settings
    const config = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
      [client.customFetch]: guardedFetch(this.#options.outbound),
      execute: isPlain(issuer) ? [client.allowInsecureRequests] : [],
    })
    const metadata = { ...config.serverMetadata() }
    this.#known = { metadata, at: this.#options.clock.now() }
    return metadata
  }

  async #call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      throw failureOf(thrown)
    }
  }
}

let loading: Promise<typeof import('openid-client')> | undefined

/** Loaded with the first sign-in, so that a service without a provider does not load it. */
function library(): Promise<typeof import('openid-client')> {
  loading ??= import('openid-client')
  return loading
}

const isPlain = (issuer: string): boolean => issuer.startsWith('http:')

/** A provider that does not say accepts the header (OpenID Connect Discovery 1.0). */
function authenticatesByPost({ token_endpoint_auth_methods_supported: methods }: ServerMetadata): boolean {
  return methods !== undefined && !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
}

const isPending = (value: unknown): value is Pending =>
  isObject(value) &&
  ['state', 'nonce', 'verifier', 'returnTo'].every((field) => typeof value[field] === 'string') &&
  typeof value.begunAt === 'number'

/** Whether the fetch failed because the service is stopping. */
const isEnding = (thrown: unknown): boolean =>
  causesOf(thrown).some(
    (error) => error instanceof OutboundError && (error.kind === 'aborted' || error.kind === 'interrupted'),
  )
