import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../src/lib/index.ts'
import { type IdentityProvider, startIdentityProvider } from '../../../testkit/identity-provider.ts'
import { TestBrowser } from './browser.ts'
import { type OidcService, startWithProvider, warnings } from './support.ts'

interface Stage extends OidcService {
  provider: IdentityProvider
}

async function open(t: TestContext): Promise<Stage> {
  const provider = await startIdentityProvider(t)
  const service = await startWithProvider(t, systemClock, provider.issuer)
  provider.register(service.api.url)
  provider.people.set('ada', { email: 'ada@agency.example', name: 'Ada', groups: ['acme'] })
  provider.whoSignsIn = 'ada'
  return { ...service, provider }
}

/** From the button to the dashboard, with the provider's page between where it asks. @returns the path that the browser ends at */
async function signInWith({ api, provider }: Stage, browser: TestBrowser): Promise<string> {
  const isBack = (url: string) => url.startsWith(api.url) && !url.startsWith(`${api.url}/api/`)
  let at = await browser.follow(`${api.url}/api/oidc/sign-in?return_to=/overview`, isBack)
  if (at.url.startsWith(`${provider.issuer}/interaction/`)) {
    const answered = await browser.post(at.url, {})
    at = await browser.follow(new URL(answered.location, at.url).href, isBack)
  }
  assert.ok(isBack(at.url), `${at.url}: ${at.text.slice(0, 500)}`)
  return at.url.slice(api.url.length)
}

const rolesOf = async (browser: TestBrowser, { api }: Stage) =>
  (await browser.api(api.url).ask<{ access: { all: string | null; clients: unknown[] } }>('GET', '/api/session')).access

test('sign-in, another group, and sign-out with a real provider', async (t) => {
  const stage = await open(t)
  const { admin, api, provider } = stage
  const acme = await admin.newClient({ name: 'Acme' })
  const browser = new TestBrowser()
  assert.equal(await signInWith(stage, browser), '/overview')
  assert.deepEqual(await rolesOf(browser, stage), { all: null, clients: [{ client_id: acme.id, role: 'editor' }] })

  provider.people.set('ada', { email: 'ada@agency.example', name: 'Ada', groups: ['admins'] })
  assert.equal(await signInWith(stage, browser), '/overview')
  assert.deepEqual(await rolesOf(browser, stage), { all: 'owner', clients: [] })
  assert.equal(provider.asked, 1, 'the provider still knows the browser')

  provider.people.set('ada', { email: 'ada@agency.example', name: 'Ada', groups: [] })
  assert.equal(await signInWith(stage, browser), '/sign-in?problem=no_role')
  assert.equal((await browser.api(api.url).call('GET', '/api/clients')).status, 403)

  const { provider_url } = await browser.api(api.url).ask<{ provider_url: string }>('DELETE', '/api/session')
  const asked = await browser.get(provider_url)
  assert.equal(asked.status, 200, asked.text)
  const xsrf = /name="xsrf" value="(\w+)"/.exec(asked.text)?.[1] ?? ''
  const left = await browser.post(`${provider.issuer}/session/end/confirm`, { xsrf, logout: 'yes' })
  assert.equal(left.location, `${api.url}/sign-in`)
  assert.equal((await browser.api(api.url).call('GET', '/api/clients')).status, 401)

  provider.people.set('ada', { email: 'ada@agency.example', name: 'Ada', groups: ['admins'] })
  assert.equal(await signInWith(stage, browser), '/overview')
  assert.equal(provider.asked, 2, 'the provider knows the browser after the sign-out')
})

test('a person who declines at a real provider is back at the sign-in', async (t) => {
  const stage = await open(t)
  stage.provider.whoSignsIn = null
  assert.equal(await signInWith(stage, new TestBrowser()), '/sign-in?problem=refused')
  assert.equal(warnings(stage).at(-1)?.reason, 'the provider answers access_denied')
})

test('a code works once', async (t) => {
  const stage = await open(t)
  const { api, provider } = stage
  const browser = new TestBrowser()
  const isBack = (url: string) => url.startsWith(`${api.url}/api/oidc/callback`)
  const page = await browser.follow(`${api.url}/api/oidc/sign-in`)
  const answered = await browser.post(page.url, {})
  const back = await browser.follow(new URL(answered.location, page.url).href, isBack)
  const pending = browser.cookie(api.url, 'tagwarden_oidc') ?? ''
  await stage.admin.newClient({ name: 'Acme' })
  assert.equal((await browser.get(back.url)).location, '/')
  browser.setCookie(api.url, 'tagwarden_oidc', pending)
  assert.equal((await browser.get(back.url)).location, '/sign-in?problem=provider')
  assert.equal(provider.asked, 1)
  assert.match(warnings(stage).at(-1)?.reason ?? '', /invalid_grant/)
})
