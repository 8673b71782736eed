import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { HOUR } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { bearer, type SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { insertProbe } from '../../testkit/probes.ts'
import type { TestService } from '../../testkit/service.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { answering, assertAccessible, chiefly, follow, openPage, staysAccessible, untilTrue } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startService } from './support/service.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const VIEWER_TOKEN = 'viewer-token-of-the-test-0123456789'

/** The browser logs every answer that is an error. */
const EXPECTED = /status of 401/

/** A service that asks for a key, with one site. */
async function startWithSite(t: TestContext): Promise<{ service: TestService; site: SiteKey }> {
  await ensureDashboard()
  const service = await startService(t, { ADMIN_TOKEN, VIEWER_TOKEN })
  const create = async <T>(path: string, body: object): Promise<T> =>
    (await service.call('POST', path, body, bearer(ADMIN_TOKEN))).json<T>()
  const { id } = await create<{ id: string }>('/api/clients', { name: 'Acme' })
  const site = await create<SiteKey>('/api/sites', { client_id: id, name: 'Acme shop', url: 'https://acme.example' })
  return { service, site }
}

const iconOf = (page: Page) => page.locator('link[rel="icon"]').getAttribute('href')

/** Neither the page nor its tab says how the sites do. */
async function assertTellsNothing(page: Page): Promise<void> {
  await untilTrue(page, 'document.title === "Sign in · Tagwarden"')
  assert.equal(await iconOf(page), '/static/favicon-unknown.svg')
  assert.equal(await page.locator('[data-status]').count(), 0)
}

test('signing in', async (t) => {
  const { service, site } = await startWithSite(t)
  // A site that is broken: the tab of who may see it says so.
  const far = { next_run_at: clock.now() + HOUR, interval_seconds: 86_400, last_status: 'critical' }
  await insertProbe(service.service.store, site.id, far)

  for (const variant of chiefly('phone')) {
    await t.test(`the sign-in in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await openPage(t, service.url, '/', variant)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await assertTellsNothing(page)
      await page.locator('main svg').first().waitFor()
      await assertAccessible(page)
      await screenshot(page, 'sign-in', variant)
    })
  }

  await t.test('a wrong key is refused in words; the right one leads to where one wanted to go', async (t) => {
    const { page, browserErrors } = await openPage(t, service.url, '/?filter=broken')
    await page.waitForURL('**/sign-in?next=*')
    await page.getByLabel('Key', { exact: true }).fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not known').waitFor()
    await staysAccessible(page)
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/overview?filter=broken')
    await page.getByRole('button', { name: 'Signed in as admin' }).waitFor()
    assert.ok(
      browserErrors.every((text) => EXPECTED.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
  })

  await t.test('a viewer sees the sites, and no key of any; signing out ends it', async (t) => {
    const { page } = await openPage(t, service.url, '/')
    await page.getByLabel('Key', { exact: true }).fill(VIEWER_TOKEN)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Acme shop').waitFor()
    const sites = await page.evaluate<string>("fetch('/api/sites').then((answer) => answer.text())")
    assert.ok(sites.includes('Acme shop'))
    assert.ok(!sites.includes(site.ingest_key))
    await page.getByRole('button', { name: 'Signed in as viewer' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByText('Acme shop').count(), 0)
  })

  await t.test('a session that ends under an open page leads to the sign-in', async (t) => {
    const { page, browserErrors } = await openPage(t, service.url, '/')
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByText('Acme shop').waitFor()
    await untilTrue(page, 'document.title === "■ 1 critical · Overview · Tagwarden"')
    assert.equal(await iconOf(page), '/static/favicon-critical.svg')
    await page.context().clearCookies()
    // The next call to the service finds out.
    await service.ingest(site, eventPayload({ timestamp_ms: clock.now() }))
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await assertTellsNothing(page)
    assert.ok(
      browserErrors.every((text) => EXPECTED.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
  })

  await t.test('one that ends while a popover with a text is closed leaves that text, too', async (t) => {
    const { page, browserErrors } = await openPage(t, service.url, '/sign-in?next=/overview%3Ffilter%3Dbroken')
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Broken ones')
    await page.keyboard.press('Escape')
    await page.getByLabel('Name', { exact: true }).waitFor({ state: 'detached' })
    await page.context().clearCookies()
    await service.ingest(site, eventPayload({ timestamp_ms: clock.now() }))
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save view' }).click()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Broken ones')
    browserErrors.length = 0
    await page.getByLabel('Name', { exact: true }).fill('')
  })

  await t.test('one that ends under a form leaves what was typed, behind a sign-in that covers it', async (t) => {
    const { page, browserErrors } = await openPage(t, service.url, '/sign-in?next=/clients/new')
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Umbrella')
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('ops@umbrella.example')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create the client' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByRole('heading', { name: 'Sign in' }).waitFor()
    await untilTrue(page, 'document.title === "Sign in · Tagwarden"')
    assert.equal(await iconOf(page), '/static/favicon-unknown.svg')
    for (let pressed = 0; pressed < 3; pressed++) await page.keyboard.press('Escape')
    await assertAccessible(page)
    await dialog.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('textbox', { name: 'E-mail address' }).inputValue(), 'ops@umbrella.example')
    await page.getByText('Your session had ended: try again').waitFor()
    await page.getByRole('button', { name: 'Create the client' }).click()
    await page.getByRole('heading', { name: 'Umbrella' }).waitFor()
    // A form in a dialog, which Escape closes, after a question, as long as nothing covers it.
    await page.getByRole('button', { name: 'Add a channel' }).click()
    const form = page.getByRole('dialog', { name: 'Add a channel' })
    await form.getByRole('textbox', { name: 'Name' }).fill('On call')
    await form.getByRole('textbox', { name: 'Webhook' }).fill('https://hooks.example/on-call')
    await page.context().clearCookies()
    await form.getByRole('button', { name: 'Add' }).click()
    await dialog.getByLabel('Key', { exact: true }).fill('mistyped')
    await page.keyboard.press('Escape')
    await dialog.getByRole('heading', { name: 'Sign in' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await form.count(), 1)
    assert.equal(await form.getByRole('textbox', { name: 'Name' }).inputValue(), 'On call')
    await answering(page, true, () => page.keyboard.press('Escape'))
    await form.waitFor({ state: 'detached' })
    assert.ok(
      browserErrors.every((text) => EXPECTED.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
  })

  await t.test('who else signs in there gets a page of their own, without what was typed', async (t) => {
    const { page, browserErrors } = await openPage(t, service.url, '/sign-in?next=/clients/new')
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Umbrella 2')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create the client' }).click()
    await page.getByRole('dialog').getByLabel('Key', { exact: true }).fill(VIEWER_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Signed in as viewer' }).waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).count(), 0)
    browserErrors.length = 0
  })

  await t.test('who has signed in in another tab is who a page is for, once it is looked at again', async (t) => {
    const { page, browserErrors } = await openPage(t, service.url, '/sign-in?next=/clients')
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'New client' }).click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Umbrella 3')
    const signInElsewhere = async (token: string) => {
      await page.request.post('/api/session', { data: { token }, headers: { origin: service.url } })
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    }
    // The sign-in above the form is of a version that is gone.
    await page.route('**/assets/SignInAgain-*', (route) => route.abort())
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create the client' }).click()
    const way = page.getByRole('link', { name: 'Sign in in another tab' })
    await way.waitFor()
    await signInElsewhere(ADMIN_TOKEN)
    await way.waitFor({ state: 'detached' })
    assert.equal(await name.inputValue(), 'Umbrella 3')
    browserErrors.length = 0
    let questions = 0
    page.on('dialog', (question) => {
      questions += 1
      void question.accept()
    })
    await signInElsewhere(VIEWER_TOKEN)
    await page.getByRole('button', { name: 'Signed in as viewer' }).waitFor()
    assert.equal(await name.count(), 0)
    assert.equal(questions, 0, 'what was typed is not theirs')
  })

  await t.test('where it leads on to is a page of ours, whatever the address says', async (t) => {
    const { page } = await openPage(t, service.url, `/sign-in?next=${encodeURIComponent('https://elsewhere.example/')}`)
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByText('Acme shop').waitFor()
    assert.equal(new URL(page.url()).origin, service.url)
    // Who is signed in is led on at once.
    for (const next of ['//elsewhere.example/', 'javascript:alert(1)']) {
      await follow(page, `/sign-in?next=${encodeURIComponent(next)}`)
      await page.getByText('Acme shop').waitFor()
      assert.equal(new URL(page.url()).origin, service.url)
    }
  })

  await t.test('a session that ends while an alert is acknowledged leaves the question and its comment', async (t) => {
    const alert = await insertAlert(service.service.store, site, clock.now() - HOUR)
    const { page, browserErrors } = await openPage(t, service.url, `/sign-in?next=/alerts/${alert.id}`)
    await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    const comment = page.getByLabel('Comment', { exact: true })
    await comment.fill('The host is on it')
    await page.getByLabel('Your name').fill('Kim')
    await page.context().clearCookies()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByRole('heading', { name: 'Sign in' }).click()
    await dialog.getByLabel('Key', { exact: true }).click()
    await page.keyboard.type(ADMIN_TOKEN)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await comment.inputValue(), 'The host is on it')
    await page.getByText('Your session had ended: try again').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('The host is on it').waitFor()
    assert.ok(
      browserErrors.every((text) => EXPECTED.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
  })
})
