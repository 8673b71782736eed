import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { InvitedUser } from '../../src/accounts/index.ts'
import type { ServiceOptions } from '../../src/main.ts'
import { type Answer, type ApiClient, apiClient, bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { placeFor, type TestEngine } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

export const ADMIN = 'admin-token-0123456789'
export const NOW = '2026-11-20T10:00:00Z'
export const PASSWORD = 'correct horse battery staple'

export interface AccountService {
  api: TestService
  clock: TestClock
  /** With the admin key. */
  admin: ApiClient
}

/** @param options `{}`: passwords cost what they cost a service */
export async function openAccounts(
  t: TestContext,
  engine: TestEngine,
  environment: Record<string, string> = {},
  options?: Pick<ServiceOptions, 'passwords'>,
): Promise<AccountService> {
  const clock = new TestClock(NOW)
  const settings = { ...(await placeFor(engine, t)), ADMIN_TOKEN: ADMIN, ...environment }
  const api = await startTestService(t, clock, settings, undefined, options)
  return { api, clock, admin: apiClient(api.url, bearer(ADMIN)) }
}

export const secretOf = (url: string): string => url.split('#')[1] ?? ''

export interface Role {
  client_id: string | null
  role: 'viewer' | 'editor' | 'owner'
}

/** Invites someone and accepts for them. */
export async function join(by: ApiClient, email: string, roles: readonly Role[]): Promise<InvitedUser> {
  const user = await by.ask<InvitedUser>('POST', '/api/users', { email, roles })
  assert.ok(user.link !== null)
  await apiClient(by.url).ask('POST', '/api/password-links/use', {
    secret: secretOf(user.link.url),
    password: PASSWORD,
  })
  return user
}

/** Signs in as a browser does. */
export async function signIn(url: string, email: string, password = PASSWORD): Promise<ApiClient & { answer: Answer }> {
  const answer = await apiClient(url).call('POST', '/api/session', { email, password })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  return { ...apiClient(url, { cookie, origin: url }), answer }
}
