import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ApiClient, apiClient, bearer } from '../../testkit/api.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { until } from '../../testkit/until.ts'
import { choose, sideways, signIn } from './support/forms.ts'
import { assertAccessible, chiefly, follow, inOnePage, openPage, staysAccessible } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'
import { addTarget, startEmpty } from './support/target.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const VIEWER_TOKEN = 'viewer-token-of-the-test-0123456789'

const TABS = ['Deliveries', 'E-mail', 'Access', 'Retention', 'About'] as const

interface Receiver {
  url: string
  set: (status: number) => void
}

/** A chat server that takes messages, or does not. */
async function startReceiver(t: TestContext): Promise<Receiver> {
  let status = 200
  const url = await startAnswering(t, (request, response) => {
    request.resume().on('end', () => {
      response.statusCode = status
      response.end('{}')
    })
  })
  return {
    url: `${url}/hook/secret-part`,
    set(next) {
      status = next
    },
  }
}

test('settings, without sign-in', async (t) => {
  const receiver = await startReceiver(t)
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  await service.newClient({ name: 'Reached Ltd', chat_webhook: receiver.url })

  for (const variant of chiefly('desktop')) {
    await t.test(`every tab in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await open(t, '/settings', variant)
      await page
        .getByRole('region', { name: 'Reached Ltd' })
        .getByText('not used yet')
        .or(page.getByText('works'))
        .first()
        .waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'settings', variant)
      for (const tab of TABS) {
        await page.getByRole('tab', { name: tab }).click()
        await page.getByRole('tabpanel').locator('[aria-busy]').waitFor({ state: 'detached' })
        await assertAccessible(page)
        assert.equal(await sideways(page), 0, `${tab} scrolls sideways`)
      }
    })
  }

  await t.test('a test message shows the outcome of each channel', async (t) => {
    const { page } = await open(t, '/settings')
    const card = page.getByRole('region', { name: 'Reached Ltd' })
    await card.getByText(/127\.0\.0\.1/).waitFor()
    assert.equal(await page.getByText('secret-part').count(), 0)
    await card.getByRole('button', { name: 'Send a test message to Reached Ltd' }).click()
    await card.getByText('Webhook: delivered').waitFor()
    receiver.set(404)
    await card.getByRole('button', { name: 'Send a test message to Reached Ltd' }).click()
    await card.getByText(/^Webhook: .*404/).waitFor()
    receiver.set(200)
  })

  await t.test('a message that was refused shows why, and is sent when asked for', async (t) => {
    receiver.set(404)
    const refused = await service.newClient({ name: 'Refused Ltd', chat_webhook: receiver.url })
    const target = await addTarget(t, service, 'Refused shop', refused)
    await target.turn('bad')
    await until('the message was refused', async () => {
      const log = await service.call('GET', `/api/deliveries?client_id=${refused.id}&state=pending`)
      return log.json<{ attempts: number }[]>().some(({ attempts }) => attempts > 0) || undefined
    })

    const { page } = await open(t, '/settings?tab=channels')
    const card = page.getByRole('region', { name: 'Refused Ltd' })
    await card.getByText('switched off').waitFor()
    await card.getByText(/404/).first().waitFor()
    await card.getByText('1 message waits').waitFor()
    await follow(page, `/clients/${refused.id}`)
    const channels = page.getByRole('region', { name: 'Channels' })
    await channels.getByText(/404.*Off since .*It was refused permanently/).waitFor()
    await follow(page, '/settings?tab=channels')

    await page.getByRole('tab', { name: 'Deliveries' }).click()
    await page.getByText('Waiting', { exact: true }).click()
    await page.waitForURL(/state=pending/)
    await choose(page, 'Client', 'Refused Ltd')
    const message = page.getByRole('row').filter({ hasText: /opened/ })
    await message.getByText(/404/).waitFor()
    receiver.set(200)
    await message.getByRole('button', { name: 'Send now' }).click()
    await page.getByRole('heading', { name: 'No message matches' }).waitFor()
    await page.getByText('Delivered', { exact: true }).click()
    await message.waitFor()
    const size = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await message.getByText('Refused Ltd').waitFor()
    const hidden = await page
      .getByRole('region', { name: 'Messages' })
      .evaluate((region) => region.scrollWidth - region.clientWidth)
    assert.equal(hidden, 0, 'a part of the message is out of sight on a phone')
    if (size !== null) await page.setViewportSize(size)
  })

  await t.test('what runs here, and how to switch on what is off', async (t) => {
    const { page } = await open(t, '/settings?tab=email')
    await page.getByText(/SMTP_URL=smtp:/).waitFor()
    await page.getByRole('tab', { name: 'Access' }).click()
    await page.waitForURL('**/settings?tab=access')
    await page.getByText(/ADMIN_TOKEN=\$\(openssl/).waitFor()
    await page.getByRole('tab', { name: 'Retention' }).click()
    await page.getByText('RETENTION_RESULT_DAYS').waitFor()
    await page.getByRole('tab', { name: 'About' }).click()
    await page.getByText('SQLite, embedded').waitFor()
    await page.getByRole('table').getByText('alive').waitFor()
    await page.goBack()
    await page.getByText('RETENTION_RESULT_DAYS').waitFor()
  })
})

test('a viewer sees alerts, maintenance and settings, and no button that would be refused', async (t) => {
  const open = await startEmpty(t, { ADMIN_TOKEN, VIEWER_TOKEN })
  const service = withKey(open, ADMIN_TOKEN)
  const client = await service.newClient({ chat_webhook: 'https://hooks.chat.example/secret-part' })
  const target = await addTarget(t, service, 'Broken shop', client)
  await target.turn('bad')
  const { page } = await openPage(t, service.url, '/alerts')
  await signIn(page, VIEWER_TOKEN)

  await page.getByRole('link', { name: /answered 503/ }).waitFor()
  assert.equal(await page.getByRole('main').getByRole('checkbox').count(), 0)
  assert.equal(await page.getByRole('button', { name: /Acknowledge|Silence/ }).count(), 0)
  await staysAccessible(page)
  await page.getByRole('link', { name: /answered 503/ }).click()
  await page.getByText('Opened', { exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: /Acknowledge|Silence|Resolve/ }).count(), 0)

  await follow(page, '/maintenance')
  await page.getByText(/^No silence and no maintenance/).waitFor()
  assert.equal(await page.getByRole('button', { name: /Silence|Plan/ }).count(), 0)

  await follow(page, '/settings')
  await page.getByText('address not shown to viewers').waitFor()
  assert.equal(await page.getByRole('button', { name: /test message/ }).count(), 0)
  assert.equal(await page.getByText('secret-part').count(), 0)
  await page.getByRole('tab', { name: 'Access' }).click()
  await page.getByText(/You are signed in as viewer/).waitFor()
  await staysAccessible(page)
})

/** The same service, with the key sent along. */
function withKey({ url }: ApiClient, token: string): ApiClient {
  const api = apiClient(url)
  const call: ApiClient['call'] = (method, path, body, headers = {}) =>
    api.call(method, path, body, { ...bearer(token), ...headers })
  const create = async <T>(path: string, body: object): Promise<T> => (await call('POST', path, body)).json<T>()
  return {
    ...api,
    call,
    newClient: (fields) => create('/api/clients', { name: 'Acme', ...fields }),
    newSite: (client, fields) =>
      create('/api/sites', { client_id: client.id, name: 'shop', url: 'https://shop.example', ...fields }),
  }
}
