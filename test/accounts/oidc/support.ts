import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { Clock } from '../../../src/lib/index.ts'
import { type ApiClient, apiClient, bearer } from '../../../testkit/api.ts'
import { startTestService, type TestService } from '../../../testkit/service.ts'
import { ADMIN } from '../support.ts'
import { type Landing, TestBrowser } from './browser.ts'
import { CLIENT, type WrittenProvider } from './written-provider.ts'

export interface LogLine {
  level: number
  msg: string
  problem?: string
  reason?: string
}

export interface OidcService {
  api: TestService
  /** With the admin key. */
  admin: ApiClient
  lines: LogLine[]
}

const WARN = 40

/** A service whose people sign in with the provider. */
export async function startWithProvider(
  t: TestContext,
  clock: Clock,
  issuer: string,
  environment: Record<string, string> = {},
): Promise<OidcService> {
  const lines: LogLine[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line) as LogLine) })
  const settings = {
    ADMIN_TOKEN: ADMIN,
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OUTBOUND_ALLOW: '127.0.0.1',
    GROUP_ROLES: 'admins: owner of all; acme: editor of Acme',
    ...environment,
  }
  const api = await startTestService(t, clock, settings, log)
  return { api, admin: apiClient(api.url, bearer(ADMIN)), lines }
}

/** What went wrong, for the operator. */
export const warnings = ({ lines }: OidcService): LogLine[] => lines.filter(({ level }) => level >= WARN)

/** Begins a sign-in; the provider of these tests takes the nonce from the address, and the browser goes no further. */
export async function beginAt(
  { api }: OidcService,
  provider: WrittenProvider,
  browser: TestBrowser,
  returnTo = '/overview',
): Promise<URLSearchParams> {
  const begun = await browser.get(`${api.url}/api/oidc/sign-in?${new URLSearchParams({ return_to: returnTo })}`)
  assert.equal(begun.status, 302, begun.text)
  const asked = new URL(begun.location)
  assert.equal(asked.origin + asked.pathname, `${provider.issuer}/authorize`)
  provider.nonce = asked.searchParams.get('nonce') ?? ''
  return asked.searchParams
}

/** Comes back from the provider with a code. */
export const comeBack = (
  { api }: OidcService,
  browser: TestBrowser,
  answer: Record<string, string>,
): Promise<Landing> => browser.get(`${api.url}/api/oidc/callback?${new URLSearchParams(answer)}`)

/** The whole way. */
export async function signInAt(
  service: OidcService,
  provider: WrittenProvider,
  browser = new TestBrowser(),
  returnTo?: string,
): Promise<Landing & { browser: TestBrowser; api: ApiClient }> {
  const asked = await beginAt(service, provider, browser, returnTo)
  const landing = await comeBack(service, browser, { code: 'a-code', state: asked.get('state') ?? '' })
  return { ...landing, browser, api: browser.api(service.api.url) }
}
