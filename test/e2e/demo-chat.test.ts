import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chat } from '../../src/cli/demo/chat.ts'
import { startTagServer } from '../../src/cli/demo/tag-server.ts'
import { isoTime } from '../../src/lib/index.ts'
import { clock } from './support/clock.ts'
import { assertAccessible, chiefly, openPage } from './support/page.ts'

test('the chat of the demo', async (t) => {
  const chat = new Chat('key')
  const server = await startTagServer(null, () => undefined, chat)
  t.after(() => server.close())
  chat.leadTo('http://127.0.0.1:9')
  const say = (text: string, status = 'firing') => {
    const client = { name: 'ACME' }
    const alerts = [{ labels: { severity: 'critical' } }]
    const idempotency_key = text
    const body = JSON.stringify({ idempotency_key, sent_at: isoTime(clock.now()), status, text, client, alerts })
    return fetch(chat.hookUrl(server.url), { method: 'POST', body })
  }
  await say('[CRITICAL] Shop: <img src=x onerror=alert(1)> fails\nhttp://elsewhere/alerts/7')

  for (const variant of chiefly('phone')) {
    await t.test(
      `shows messages as text in ${variant.scheme} on a ${variant.device}, and axe finds nothing`,
      async (t) => {
        const { page } = await openPage(t, server.url, '/chat', variant)
        await page.getByText('[CRITICAL] Shop: <img src=x onerror=alert(1)> fails', { exact: true }).waitFor()
        const link = page.getByRole('link', { name: 'Open in Tagwarden' }).first()
        assert.equal(await link.getAttribute('href'), 'http://127.0.0.1:9/alerts/7')
        await assertAccessible(page)
      },
    )
  }

  await t.test('shows what comes while it is open, the newest first', async (t) => {
    const { page } = await openPage(t, server.url, '/chat')
    await page.getByRole('listitem').first().waitFor()
    await say('[RESOLVED] Shop: it runs again', 'resolved')
    await page.getByRole('listitem').first().getByText('[RESOLVED] Shop: it runs again', { exact: true }).waitFor()
  })
})
