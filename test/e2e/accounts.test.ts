import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { InvitedUser, UserRecord } from '../../src/accounts/index.ts'
import { apiClient, bearer } from '../../testkit/api.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { choose, sideways } from './support/forms.ts'
import {
  answered,
  answering,
  assertAccessible,
  chiefly,
  follow,
  openPage,
  staysAccessible,
  untilTrue,
  type Variant,
  type View,
} from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { startService } from './support/service.ts'
import { addTarget } from './support/target.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const PASSWORD = 'correct horse battery staple'
const FOREIGN = 'Strangeco'

async function startWithTwo(t: TestContext, environment: Record<string, string> = {}) {
  await ensureDashboard()
  const service = await startService(t, { ADMIN_TOKEN, OUTBOUND_ALLOW: '127.0.0.0/8', ...environment })
  const admin = apiClient(service.url, bearer(ADMIN_TOKEN))
  for (const name of ['Ownco', FOREIGN]) {
    const client = await admin.newClient({ name })
    const site = await admin.newSite(client, { name: `${name} shop` })
    await admin.ask('POST', '/api/annotations', { site_id: site.id, text: `${name} released` })
  }
  return { service, admin }
}

/** A page of the settings of who has signed in with the admin's key. */
async function asAdmin(t: TestContext, url: string, path: string, variant?: Variant): Promise<Page> {
  const { page } = await openPage(t, url, path, variant)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const other = page.getByRole('button', { name: 'Sign in with a key' })
  if ((await other.count()) > 0) await other.click()
  await page.getByLabel('Key', { exact: true }).fill(ADMIN_TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  return page
}

/** Invites someone on the page of people, and takes the link that it shows. */
async function invite(page: Page, email: string, fill: (page: Page) => Promise<void>): Promise<string> {
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill(email)
  await fill(page)
  await dialog.getByRole('button', { name: 'Invite' }).click()
  const link = await page.getByRole('dialog').getByText('/welcome#').textContent()
  await staysAccessible(page)
  await page.getByRole('button', { name: 'Done' }).click()
  return link ?? ''
}

/** Follows the link, chooses a password and begins. */
async function accept(t: TestContext, link: string, variant?: Variant): Promise<View> {
  const { origin, pathname, hash } = new URL(link)
  const view = await openPage(t, origin, pathname + hash, variant)
  const { page } = view
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await (variant === undefined ? staysAccessible : assertAccessible)(page)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByRole('button', { name: /^Signed in as / }).waitFor()
  return view
}

test('from an invitation to the first view', async (t) => {
  const { service, admin: api } = await startWithTwo(t)
  const admin = await asAdmin(t, service.url, '/settings?tab=people')
  const ofAll = await invite(admin, 'owner@agency.example', async (page) => {
    await choose(page, 'Role', 'Owner: also deletes clients, manages people and tokens')
  })
  const ofOne = await invite(admin, 'viewer@ownco.example', async (page) => {
    await page.getByRole('switch', { name: 'For every client' }).click()
    await choose(page, 'Clients', 'Ownco')
    // Closes the list, which stays open for more.
    await page.getByText('Invite someone').click()
  })

  await t.test('an owner of everything sees every client, and manages people', async (t) => {
    const { page } = await accept(t, ofAll)
    await follow(page, '/overview')
    await page.getByText(`${FOREIGN} shop`).first().waitFor()
    await follow(page, '/settings?tab=people')
    const row = page.getByRole('listitem').filter({ hasText: 'viewer@ownco.example' })
    await row.getByRole('button', { name: 'Edit' }).click()
    const viewer = async () => {
      const users = await api.ask<UserRecord[]>('GET', '/api/users')
      return users.find(({ email }) => email === 'viewer@ownco.example') ?? assert.fail('no viewer')
    }
    const { id, roles } = await viewer()
    await api.ask('PATCH', `/api/users/${id}`, { is_active: false })
    await choose(page, 'Role', 'Editor: changes sites, probes, alerts and channels')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const saved = await viewer()
    assert.deepEqual(
      [saved.roles[0]?.role, saved.status],
      ['editor', 'disabled'],
      'what someone else disabled meanwhile',
    )
    await row.getByText('disabled', { exact: true }).waitFor()
    await row.getByRole('button', { name: 'Edit' }).click()
    await choose(page, 'Role', 'Owner: also deletes clients, manages people and tokens')
    await api.ask('PATCH', `/api/users/${id}`, { is_active: true, roles })
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByText('Someone has changed this meanwhile. Save again to replace it').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await follow(page, '/account')
    await page.getByText('this one').waitFor()
    await staysAccessible(page)
  })

  await t.test('a viewer of one client meets the name of no other, on any page', async (t) => {
    const { page } = await accept(t, ofOne)
    const paths = ['/overview', '/today', '/incidents', '/alerts', '/tags', '/probes', '/maintenance', '/clients']
    for (const path of [...paths, '/audit', '/settings', '/settings?tab=deliveries', '/compare', '/account']) {
      await follow(page, path)
      await page.getByRole('main').waitFor()
      await answered(page)
      const text = await page.content()
      assert.ok(!text.includes(FOREIGN), `${path} names the other client`)
    }
    await page.goto(`${service.url}/overview`)
    await page.getByText('Ownco shop').first().waitFor()
    await follow(page, '/settings?tab=people')
    await page.getByRole('heading', { name: 'You may not see "People"' }).waitFor()
    assert.equal(await page.getByRole('tab', { name: 'People' }).count(), 0)
    await page.getByRole('tab', { name: 'Channels' }).click()
    // Whether the service has a channel for every client is not for them to see: the page does not say that there is none.
    await page.getByText('No channel of its own.').waitFor()
    assert.equal(await page.getByText('Not set up.').count(), 0)
  })

  await t.test('a wrong e-mail or password is refused with a message', async (t) => {
    const { page, browserErrors } = await openPage(t, service.url, '/')
    await page.getByLabel('E-mail').fill('viewer@ownco.example')
    await page.getByRole('textbox', { name: 'Password' }).fill('a wrong password')
    await page.keyboard.press('Enter')
    await page.getByText('The address or the password is wrong.').waitFor()
    assert.ok(
      browserErrors.every((text) => /status of 401/.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Sign in with a key' }).click()
    await page.getByLabel('Key', { exact: true }).waitFor()
  })

  for (const variant of chiefly('desktop')) {
    await t.test(`people and tokens fit in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const page = await asAdmin(t, service.url, '/settings?tab=people', variant)
      await page.getByText('viewer@ownco.example').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'people', variant)
    })

    await t.test(`a welcome and one's account in ${variant.scheme} on a ${variant.device}: so are they`, async (t) => {
      const api = apiClient(service.url, bearer(ADMIN_TOKEN))
      const { link } = await api.ask<InvitedUser>('POST', '/api/users', {
        email: `${variant.scheme}-${variant.device}@agency.example`,
        roles: [{ client_id: null, role: 'viewer' }],
      })
      const { page } = await accept(t, link?.url ?? assert.fail('no link'), variant)
      await follow(page, '/account')
      await page.getByText('this one').waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
    })
  }
})

test('the first account leads from its invitation to its password and into the dashboard, without a copied link', async (t) => {
  await ensureDashboard()
  const { url } = await startService(t)
  const { page } = await openPage(t, url, '/settings?tab=people')
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite yourself' })
  await dialog.getByLabel('E-mail').fill('first@agency.example')
  await dialog.getByRole('button', { name: 'Invite' }).click()
  await page.getByText('Choose a password for first@agency.example.').waitFor()
  await page.getByRole('textbox', { name: 'Password' }).pressSequentially('short')
  await page.getByRole('button', { name: 'Begin' }).click()
  // The browser's own words, with the number of characters.
  const refusal = await page.evaluate<string>('document.querySelector("[name=password]").validationMessage')
  assert.match(refusal, /12 characters.*5 characters/)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByRole('button', { name: /^Signed in as / }).waitFor()
  await answered(page)
})

test('who edits one client and only sees another is offered changes of the first alone', async (t) => {
  const { service, admin } = await startWithTwo(t, { PUBLIC_URL: 'http://tags.example' })
  const clients = await admin.ask<{ id: string; name: string }[]>('GET', '/api/clients')
  const sites = await admin.ask<{ id: string; client_id: string }[]>('GET', '/api/sites')
  const places = clients.map(({ id, name }) => {
    const site = sites.find(({ client_id }) => client_id === id)
    assert.ok(site !== undefined)
    return { clientId: id, siteId: site.id, name, isOwn: name !== FOREIGN }
  })
  const { link } = await admin.ask<InvitedUser>('POST', '/api/users', {
    email: 'both@agency.example',
    roles: places.map(({ clientId, isOwn }) => ({ client_id: clientId, role: isOwn ? 'editor' : 'viewer' })),
  })
  assert.ok(link !== null)
  const { page } = await accept(t, link.url.replace('http://tags.example', service.url))
  for (const { clientId, siteId, name, isOwn } of places) {
    const offers: [path: string, heading: string, change: Locator][] = [
      [`/clients/${clientId}`, name, page.getByRole('link', { name: 'New site' })],
      [`/sites/${siteId}/keys`, 'Ingest keys', page.getByRole('button', { name: 'Add a key' })],
    ]
    for (const [path, heading, change] of offers) {
      await follow(page, path)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      await answered(page)
      assert.equal((await change.count()) > 0, isOwn, `${path} offers a change`)
    }
    // The settings of the service are not theirs to read, but its address is where the tag has to send to.
    await follow(page, `/sites/${siteId}/setup`)
    await page.getByText('curl http://tags.example/ingest').first().waitFor()
  }
})

test('someone without a role, or who loses the last one, sees whom to ask for one, and no lost connection', async (t) => {
  const { admin } = await startWithTwo(t)
  const [client] = await admin.ask<{ id: string }[]>('GET', '/api/clients')
  const { link } = await admin.ask<InvitedUser>('POST', '/api/users', {
    email: 'left@agency.example',
    roles: [{ client_id: client?.id, role: 'editor' }],
  })
  const { page, browserErrors } = await accept(t, link?.url ?? '')
  await follow(page, '/alerts')
  await page.getByText('live', { exact: true }).waitFor()
  await admin.ask('DELETE', `/api/clients/${client?.id}`)
  await page.getByText(/^(live|connecting)$/).waitFor({ state: 'detached' })
  assert.equal(await page.getByText(/^No connection/).count(), 0)
  // The list asks every 15 s.
  await page.evaluate('void __TSR_ROUTER__.options.context.queryClient.refetchQueries({ queryKey: ["alerts"] })')
  await page.getByText('This account has no role yet: ask an owner for one').first().waitFor()
  let streams = 0
  page.on('request', (request) => {
    streams += Number(request.url().endsWith('/api/stream'))
  })
  await page.goto('/alerts')
  await page.getByText('This account has no role yet: ask an owner for one').first().waitFor()
  assert.equal(await page.getByText('connecting', { exact: true }).count(), 0)
  await follow(page, '/probes/new')
  await page.getByRole('heading', { name: 'You have no role yet' }).waitFor()
  await follow(page, '/wall')
  await page.getByText('This account has no role yet: ask an owner for one').waitFor()
  await assertAccessible(page)
  assert.equal(streams, 0, 'a stream that is refused looks like a lost connection')
  // Each refusal is an error to the browser, also of what this page still asks for.
  await page.waitForLoadState('networkidle')
  browserErrors.length = 0
})

test('lists and forms over several clients offer changes of those that someone edits alone', async (t) => {
  const { admin } = await startWithTwo(t)
  const places = await admin.ask<{ id: string; name: string; client_id: string }[]>('GET', '/api/sites')
  for (const { id, name, client_id } of places) {
    await admin.ask('POST', '/api/probes', { site_id: id, probe_type: 'data_freshness', name: `${name} freshness` })
    await admin.ask('PATCH', `/api/clients/${client_id}`, { chat_webhook: `https://hooks.slack.com/services/${id}` })
    await admin.ask('POST', '/api/maintenance', {
      ...{ client_id, title: `${name} release`, kind: 'weekly', weekdays: [1], start: '03:00', duration_minutes: 60 },
    })
  }
  const probes = await admin.ask<{ id: string; site_id: string }[]>('GET', '/api/probes')
  const isOwn = (name: string) => !name.startsWith(FOREIGN)
  const { link, id: userId } = await admin.ask<InvitedUser>('POST', '/api/users', {
    email: 'both@agency.example',
    roles: places.map(({ client_id, name }) => ({ client_id, role: isOwn(name) ? 'editor' : 'viewer' })),
  })
  const { page, browserErrors } = await accept(t, link?.url ?? '')
  const go = async (path: string) => {
    await follow(page, path)
    await answered(page)
  }
  const namesOf = async (found: Locator) =>
    (await found.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''))).sort()

  await go('/probes')
  await page.getByRole('link', { name: `${FOREIGN} shop freshness` }).waitFor()
  assert.deepEqual(await namesOf(page.getByRole('button', { name: /^More for / })), ['More for Ownco shop freshness'])
  await go('/settings?tab=channels')
  await page.getByRole('heading', { name: FOREIGN }).waitFor()
  assert.deepEqual(await namesOf(page.getByRole('button', { name: /^Send a test message/ })), [
    'Send a test message to Ownco',
  ])
  await go('/maintenance')
  await page.getByText(`${FOREIGN} shop release`).first().waitFor()
  assert.deepEqual(await namesOf(page.getByRole('button', { name: /^More about / })), ['More about Ownco shop release'])

  const optionsOf = async (label: string) => {
    await page.getByLabel(label).first().click()
    await page.getByRole('option').first().waitFor()
    return page.getByRole('option').allTextContents()
  }
  await page.getByRole('button', { name: 'Plan maintenance' }).click()
  await page.getByRole('dialog').getByRole('combobox', { name: 'Client' }).click()
  await page.getByRole('option').first().waitFor()
  assert.deepEqual(await page.getByRole('option').allTextContents(), ['Ownco'])
  await go('/probes/new')
  assert.deepEqual(await optionsOf('Site'), ['Ownco shop'])

  for (const { id, name, client_id } of places) {
    const probe = probes.find(({ site_id }) => site_id === id)
    for (const path of [
      `/clients/${client_id}/edit`,
      `/clients/${client_id}/sites/new`,
      `/sites/${id}/edit`,
      `/probes/${probe?.id}/edit`,
    ]) {
      await go(path)
      const refusal = page.getByText('You have read-only access')
      await page
        .getByRole('button', { name: /^(Save|Create the site)/ })
        .or(refusal)
        .first()
        .waitFor()
      assert.equal((await refusal.count()) === 0, isOwn(name), path)
    }
  }

  // The role is taken away while a form is open: what was typed stays, and saving says why not.
  const become = async (role: string) => {
    await admin.ask('PATCH', `/api/users/${userId}`, { roles: places.map(({ client_id }) => ({ client_id, role })) })
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    await untilTrue(
      page,
      `__TSR_ROUTER__.options.context.queryClient.getQueryData(['session']).access.clients.every(({ role }) => role === '${role}')`,
    )
  }
  const own = places.find(({ name }) => isOwn(name))
  await go('/clients/new')
  await page.getByRole('heading', { name: 'You may not add clients' }).waitFor()
  const pause = page.getByRole('button', { name: 'Pause …' })
  await go(`/clients/${own?.client_id}/edit`)
  await page.getByText(/Only an editor of all clients can change it$/).waitFor()
  assert.equal(await pause.isDisabled(), true, 'the client as a whole is up to editors of all clients')
  assert.equal(await page.getByRole('button', { name: 'Delete …' }).isDisabled(), true, 'and its end to owners')
  await go(`/sites/${own?.id}/edit`)
  assert.equal(await pause.isDisabled(), false)
  const dialog = page.getByRole('dialog')
  await go(`/maintenance?client=${own?.client_id}&dialog=new`)
  await dialog.getByLabel('What is done').fill('Typed')
  await become('viewer')
  await dialog.getByRole('button', { name: 'Plan it' }).click()
  await dialog.getByText('Your role does not allow this: ask an owner of the client').waitFor()
  assert.equal(await dialog.getByLabel('What is done').inputValue(), 'Typed')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })

  await become('editor')
  await go(`/sites/${own?.id}/edit`)
  await page.getByLabel('Name').fill('Typed')
  await become('viewer')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your role does not allow this: ask an owner of the client').waitFor()
  assert.equal(await page.getByLabel('Name').inputValue(), 'Typed')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Messages' }).waitFor()
  await answered(page)

  // The service knows who someone with an account is: a name that the browser kept of another is not asked for, nor sent.
  await become('editor')
  await page.evaluate(`localStorage.setItem('tagwarden-my-name', '"Mara"')`)
  await (await addTarget(t, admin, 'Broken shop', { id: own?.client_id ?? '' })).turn('bad')
  await go('/incidents')
  await page.getByRole('link', { name: /answered 503/ }).click()
  // The list, which stays until the page's code has come, has such a button too, and that asks for no comment.
  await page.getByRole('heading', { level: 1, name: /answered 503/ }).waitFor()
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await dialog.getByLabel('Comment').fill('Asked the host')
  assert.equal(await page.getByLabel('Your name').count(), 0)
  await dialog.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('acknowledged by both@agency.example', { exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Comment' }).waitFor()
  await become('viewer')
  await page.getByRole('link', { name: 'Notes' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Comment' }).count(), 0)
  for (const error of browserErrors.splice(0)) assert.match(error, /^Failed to load resource: .*403 .*$/)
})

test('an API token is shown once, and works', async (t) => {
  const { service } = await startWithTwo(t)
  const page = await asAdmin(t, service.url, '/settings?tab=tokens')
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('deploy')
  await staysAccessible(page)
  await page.getByRole('button', { name: 'Create' }).click()
  const token = (await page.getByRole('dialog').getByText('twk_').textContent()) ?? ''
  await answering(page, false, () => page.keyboard.press('Escape'))
  await page.getByRole('button', { name: 'Done' }).click()
  assert.equal((await service.call('GET', '/api/clients', undefined, bearer(token))).status, 200)
  assert.ok(!(await page.content()).includes(token))
  const { promise: later, resolve: go } = Promise.withResolvers<void>()
  await page.route('**/api/tokens', async (route) => {
    if (route.request().method() === 'POST') await later
    await route.continue()
  })
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('late')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  go()
  await page.getByRole('dialog').getByText('twk_').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke late' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('button', { name: 'Revoke late' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Revoke deploy' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('None. A pipeline').waitFor()
  assert.equal((await service.call('GET', '/api/clients', undefined, bearer(token))).status, 401)
})
