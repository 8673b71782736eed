import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { InvitedUser } from '../../src/accounts/index.ts'
import { apiClient, bearer } from '../../testkit/api.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways } from './support/forms.ts'
import { answering, assertAccessible, follow, openPage, staysAccessible } from './support/page.ts'
import { startService } from './support/service.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const EMAIL = 'ada@agency.example'
const PASSWORD = 'correct horse battery staple'

test('a second step is added with an app, asked for at the next sign-in, and taken away by an owner', async (t) => {
  await ensureDashboard()
  const service = await startService(t, { ADMIN_TOKEN })
  const admin = apiClient(service.url, bearer(ADMIN_TOKEN))
  const roles = [{ client_id: null, role: 'owner' }]
  const { link } = await admin.ask<InvitedUser>('POST', '/api/users', { email: EMAIL, name: 'Ada', roles })
  const secretOfLink = link?.url.split('#')[1]
  await service.ask('POST', '/api/password-links/use', { secret: secretOfLink, password: PASSWORD })
  const { page, browserErrors } = await openPage(t, service.url, '/account', { scheme: 'dark', device: 'phone' })
  const signIn = async () => {
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await page.keyboard.press('Enter')
  }
  await signIn()

  await page.getByRole('button', { name: 'Add a second step' }).click()
  await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('img', { name: 'QR code for your app' }).waitFor()
  await assertAccessible(page)
  assert.equal(await sideways(page), 0, 'the page scrolls sideways')
  const secret = (await dialog.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? ''
  const app = new TOTP({ secret: Secret.fromBase32(secret) })
  await dialog.getByRole('textbox', { name: 'Code' }).fill(app.generate({ timestamp: clock.now() }))
  await page.getByRole('button', { name: 'Turn on' }).click()
  const codes = await dialog.getByText(/^(\w{4}-){3}\w{4}\s/).textContent()
  const [recoveryCode = ''] = codes?.trim().split(/\s+/) ?? []
  assert.match(recoveryCode, /^(\w{4}-){3}\w{4}$/)
  await staysAccessible(page)
  await answering(page, false, () => page.keyboard.press('Escape'))
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('10 recovery codes left').waitFor()
  await staysAccessible(page)

  await page.getByRole('button', { name: 'Signed in as Ada' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signIn()
  await page.getByRole('heading', { name: 'Second step' }).waitFor()
  await assertAccessible(page)
  await page.getByLabel('Code').fill('000000')
  await page.keyboard.press('Enter')
  await page.getByText('The code is wrong, or was already used.').waitFor()
  await page.getByLabel('Code').fill(recoveryCode)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Signed in as Ada' }).waitFor()

  await follow(page, '/settings?tab=people')
  await page.getByRole('button', { name: 'Remove the second step of Ada' }).click()
  await staysAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove the second step of Ada' }).waitFor({ state: 'detached' })
  await follow(page, '/account')
  await page.getByRole('button', { name: 'Add a second step' }).waitFor()
  const unexpected = browserErrors.filter((text) => !/status of 401/.test(text))
  assert.deepEqual(unexpected, [])
  browserErrors.length = 0
})
