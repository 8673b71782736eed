import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { OIDC_CLIENT, startIdentityProvider } from '../../testkit/identity-provider.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { assertAccessible, follow, openPage, staysAccessible } from './support/page.ts'
import { startService } from './support/service.ts'

test('from the button of the sign-in to the first view, back out, and what a refusal looks like', async (t) => {
  await ensureDashboard()
  // To a browser it is another site: cookies that are meant for ours alone stay behind on the way back.
  const provider = await startIdentityProvider(t, 'localhost')
  const service = await startService(
    t,
    {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: OIDC_CLIENT.id,
      OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
      OIDC_NAME: 'Agency login',
      OUTBOUND_ALLOW: 'localhost',
      GROUP_ROLES: 'admins: owner of all',
    },
    systemClock,
  )
  provider.register(service.url)
  provider.people.set('ada', { email: 'ada@agency.example', name: 'Ada', groups: ['admins'] })
  provider.whoSignsIn = 'ada'
  const { page, browserErrors } = await openPage(t, service.url, '/settings?tab=people')

  await page.getByRole('link', { name: 'Sign in with Agency login' }).waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Sign in with Agency login' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('by groups: owner of all clients').waitFor()
  assert.equal(new URL(page.url()).search, '?tab=people')
  await staysAccessible(page)
  await follow(page, '/account')
  await page.getByText('You sign in with your provider').waitFor()
  await staysAccessible(page)

  // Above a form the provider gets a tab of its own: what was typed stays in this one.
  await follow(page, '/clients/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Umbrella')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Create the client' }).click()
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  const opened = page.waitForEvent('popup')
  await again.getByRole('link', { name: 'Sign in with Agency login' }).click()
  const tab = await opened
  await tab.getByRole('button', { name: 'Continue' }).click()
  await tab.getByRole('button', { name: 'Signed in as Ada' }).waitFor()
  await tab.close()
  // As the browser does when this tab is looked at again.
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
  await again.waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Umbrella')

  await page.getByRole('button', { name: 'Signed in as Ada' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Yes, sign me out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto(`${service.url}/overview`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()

  provider.whoSignsIn = null
  await page.getByRole('link', { name: 'Sign in with Agency login' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').getByText('The sign-in was cancelled').waitFor()
  await staysAccessible(page)

  const own = browserErrors.filter(
    (text) => !text.startsWith(`asked ${provider.issuer}/`) && !/status of 40[014]/.test(text),
  )
  assert.deepEqual(own, [])
  browserErrors.length = 0
})
