import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, isoTime, newSecret } from '../../src/lib/index.ts'
import type { ClientRecord } from '../../src/management/index.ts'
import type { DeliveryRecord, DigestOptOut, DigestSubscription } from '../../src/notifications/index.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { sqlite, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { until } from '../../testkit/until.ts'
import { VIEWER } from '../management/support.ts'
import { serviceWithMail } from '../notifications/email/service-with-mail.ts'

/** Half past seven on a Friday in Berlin. */
const NOW = '2026-11-20T06:30:00.000Z'

/** A service with a client whose digests go to two addresses. */
async function start(t: TestContext, engine: TestEngine = sqlite) {
  const clock = new TestClock(NOW)
  const { mail, api, loops, call } = await serviceWithMail(t, engine, clock)
  const client = await call<ClientRecord>('POST', '/api/clients', {
    name: 'Acme',
    email: 'ops@acme.example, Boss@acme.example',
    digest: 'daily',
  })
  await call('POST', '/api/sites', {
    client_id: client.id,
    name: 'shop',
    url: 'https://shop.example',
    timezone: 'Europe/Berlin',
  })
  await api.service.store.write
    .updateTable('sites')
    .set({ created_at: clock.now() - 3 * DAY })
    .execute()
  const tick = async (...names: string[]) => {
    for (const name of names) await loops.find((loop) => loop.name === name)?.tick()
  }
  const deliveries = () => call<DeliveryRecord[]>('GET', `/api/deliveries?client_id=${client.id}`)
  /** Writes and sends the digest that is due, and returns the addresses and secrets of its e-mails. */
  const morning = async () => {
    mail.mails.length = 0
    await tick('heartbeat', 'digests')
    await until('the digest is sent', async () => {
      await tick('deliveries')
      return (await deliveries()).every(({ state }) => state === 'delivered') || undefined
    })
    const all = mail.mails.map(({ raw, to }) => ({ to: to.join(), raw: raw.replaceAll('=\r\n', '') }))
    return new Map(all.map(({ to, raw }) => [to, /\/status\/digests\/([\w-]{43})/.exec(raw)?.[1] ?? '']))
  }
  const optOuts = () => call<DigestOptOut[]>('GET', `/api/clients/${client.id}/digest-opt-outs`)
  const audit = async () => {
    const rows = await api.service.store.read.selectFrom('audit_log').selectAll().orderBy('id').execute()
    return rows
      .filter(({ entity }) => entity === 'digest_opt_out')
      .map(({ action, actor, client_id }) => ({ action, actor, client_id }))
  }
  return { clock, api, mail, call, client, morning, optOuts, audit, deliveries }
}

testPerEngine(
  'a reader without an account stops the digests to one address with one click, and an editor or the link resumes them',
  async (engine, t) => {
    const { clock, api, client, morning, optOuts, audit, call } = await start(t, engine)
    const first = await morning()
    assert.deepEqual([...first.keys()].sort(), ['Boss@acme.example', 'ops@acme.example'])
    const secret = first.get('Boss@acme.example') ?? ''
    const state = async () => (await api.call('GET', `/api/digests/${secret}`)).json<DigestSubscription>()

    // Scanners of mail servers open links, and browsers the page.
    for (const method of ['GET', 'HEAD']) await fetch(`${api.url}/status/digests/${secret}`, { method })
    assert.deepEqual(await state(), { name: 'Acme', email: 'boss@acme.example', opted_out_at: null })

    const click = async () =>
      (
        await fetch(`${api.url}/status/digests/${secret}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'List-Unsubscribe=One-Click',
        })
      ).status
    assert.deepEqual([await click(), await click()], [204, 204])
    const at = isoTime(clock.now())
    assert.deepEqual(await state(), { name: 'Acme', email: 'boss@acme.example', opted_out_at: at })
    const [optOut] = await optOuts()
    assert.deepEqual(optOut, { id: optOut?.id, email: 'boss@acme.example', opted_out_at: at })
    const path = `/api/clients/${client.id}/digest-opt-outs`
    const seen = await api.call('GET', path, undefined, bearer(VIEWER))
    assert.deepEqual(seen.json(), [{ id: optOut?.id, email: null, opted_out_at: at }], 'viewers see no addresses')

    clock.advance(DAY)
    assert.deepEqual([...(await morning()).keys()], ['ops@acme.example'])

    await call('DELETE', `${path}/${optOut?.id}`)
    assert.deepEqual(await optOuts(), [])
    clock.advance(DAY)
    assert.equal((await morning()).get('Boss@acme.example'), secret, 'links in old digests go on working')

    assert.equal((await api.call('POST', `/api/digests/${secret}/stop`)).status, 204)
    assert.equal((await optOuts()).length, 1)
    assert.equal((await api.call('POST', `/api/digests/${secret}/resume`)).status, 204)
    assert.deepEqual(await optOuts(), [])
    const byLink = { actor: 'the link in a digest', client_id: client.id }
    assert.deepEqual(await audit(), [
      { action: 'digest_opt_out.create', ...byLink },
      { action: 'digest_opt_out.delete', actor: 'admin', client_id: client.id },
      { action: 'digest_opt_out.create', ...byLink },
      { action: 'digest_opt_out.delete', ...byLink },
    ])
  },
)

test('a digest that all its readers have unsubscribed from is not sent, and alerts still reach them', async (t) => {
  const { clock, api, mail, call, client, morning, deliveries } = await start(t)
  for (const secret of (await morning()).values()) await api.call('POST', `/api/digests/${secret}/stop`)
  const before = (await deliveries()).length
  clock.advance(DAY)
  assert.equal((await morning()).size, 0)
  assert.equal((await deliveries()).length, before)
  await call('POST', `/api/clients/${client.id}/test-notification`)
  assert.deepEqual(
    mail.mails.map(({ to }) => to),
    [['ops@acme.example', 'Boss@acme.example']],
  )
})

test('the link of a deleted client, or an invented one, opens nothing, and a mail program that repeats its click is done', async (t) => {
  const { api, call, client, morning } = await start(t)
  const [secret = ''] = (await morning()).values()
  await call('DELETE', `/api/clients/${client.id}`)
  assert.deepEqual(await api.service.store.read.selectFrom('digest_readers').selectAll().execute(), [])
  for (const one of [secret, newSecret()]) {
    assert.equal((await api.call('GET', `/api/digests/${one}`)).status, 404)
    assert.equal((await api.call('POST', `/api/digests/${one}/stop`)).status, 404)
    assert.equal((await api.call('POST', `/status/digests/${one}`)).status, 204)
  }
})
