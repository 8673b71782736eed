import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAnswering } from '../../testkit/listeners.ts'
import { startProxied, startSigningProxy } from '../accounts/proxy/signing-proxy.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { assertAccessible, openPage } from './support/page.ts'

test('whom a proxy signs in is on the dashboard at once, and signs out where the proxy does', async (t) => {
  await ensureDashboard()
  const signOut = await startAnswering(t, (_request, response) => response.end('Signed out at the proxy'))
  const { api } = await startProxied(t, clock, { PROXY_SIGN_OUT_URL: `${signOut}/oauth2/sign_out` })
  const proxy = await startSigningProxy(t, api.url)
  proxy.signed = { email: 'ada@agency.example', name: 'Ada', groups: 'admins' }
  const { page, browserErrors } = await openPage(t, proxy.url, '/clients')
  await page.getByRole('button', { name: 'Signed in as Ada' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByText('Signed out at the proxy').waitFor()
  // The kit takes it for a page that asks someone else.
  assert.deepEqual(browserErrors.splice(0, 1), [`asked ${signOut}/oauth2/sign_out`])
})

test('without a page to sign out there is no such button, and who is not let in reads why', async (t) => {
  await ensureDashboard()
  const { api } = await startProxied(t, clock)
  const proxy = await startSigningProxy(t, api.url)
  proxy.signed = { email: 'ada@agency.example', name: 'Ada', groups: 'admins' }
  const { page, browserErrors } = await openPage(t, proxy.url, '/clients')
  await page.getByRole('button', { name: 'Signed in as Ada' }).click()
  await page.getByRole('menuitem', { name: 'Your account' }).waitFor()
  assert.equal(await page.getByRole('menuitem', { name: 'Sign out' }).count(), 0)
  assert.deepEqual(browserErrors, [])

  proxy.signed = { email: 'eve@agency.example' }
  await page.goto(`${proxy.url}/clients`)
  await page.getByRole('alert').getByText('none of your groups has a role here').waitFor()
  await assertAccessible(page)
})
