import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, SECOND } from '../../src/lib/index.ts'
import type { ChannelList, TestResult } from '../../src/notifications/index.ts'
import { bearer } from '../../testkit/api.ts'
import { NOW } from '../../testkit/clock.ts'
import { logicEngines, sqlite, testPerEngine } from '../../testkit/engines.ts'
import { samplesOf } from '../operations/prometheus-text.ts'
import { ADMIN, MISSING, stage, VIEWER } from './api-support.ts'

testPerEngine(
  'a test message goes over every channel of a client now, and switches on what it gets through',
  async (engine, t) => {
    const { newClient, enqueueAbout, run, list, call, hookUrl, answer, received, clock } = await stage(
      t,
      engine,
      {},
      true,
    )
    const client = await newClient({ chat_webhook: hookUrl })
    answer.status = 410
    await enqueueAbout(client, ['reminder A'])
    await run()
    const test = async () => {
      const sent = await call('POST', `/api/clients/${client.id}/test-notification`)
      assert.equal(sent.status, 200, sent.text)
      return sent.json<TestResult[]>()
    }
    const failed = await test()
    assert.deepEqual(
      failed.map(({ channel, kind, delivered }) => [channel, kind, delivered]),
      [
        ['global', 'webhook', false],
        [`chat:${client.id}`, 'webhook', false],
      ],
    )
    assert.match(failed[0]?.error ?? '', /410/)
    answer.status = 200
    received.length = 0
    const delivered = await test()
    assert.deepEqual(
      delivered.map(({ delivered: isDelivered, error }) => [isDelivered, error]),
      [
        [true, null],
        [true, null],
      ],
    )
    assert.deepEqual(received.map(({ path }) => path).toSorted(), ['/global', '/secret-path'])
    await run()
    // Where the client's channel goes off first, the operator's has a message about that, too.
    const reminders = (await list()).filter(({ kind }) => kind === 'reminder')
    assert.deepEqual(
      reminders.map(({ state }) => state),
      ['delivered', 'delivered'],
    )
    const { channels } = (await call('GET', '/api/channels')).json<ChannelList>()
    assert.deepEqual(
      channels.map(({ channel, state, last_success_at }) => [channel, state, last_success_at]),
      [
        ['global', 'ok', '2026-11-20T10:00:00.000Z'],
        [`chat:${client.id}`, 'ok', '2026-11-20T10:00:00.000Z'],
      ],
    )
    const audit = (await call('GET', `/api/audit?entity_id=${client.id}`)).json<{ action: string; after: unknown }[]>()
    assert.deepEqual(
      audit.filter(({ action }) => action === 'client.test_notification').map(({ after }) => after),
      [
        { global: 'delivered', [`chat:${client.id}`]: 'delivered' },
        { global: 'failed', [`chat:${client.id}`]: 'failed' },
      ],
    )
    for (let n = 0; n < 3; n++) await test()
    const tooMany = await call('POST', `/api/clients/${client.id}/test-notification`)
    assert.deepEqual([tooMany.status, tooMany.headers.get('retry-after')], [429, '60'])
    clock.advance(MINUTE)
    await test()
  },
  logicEngines,
)

testPerEngine(
  'a test lists e-mail that the server cannot send beside the channels that it has',
  async (engine, t) => {
    const { newClient, call } = await stage(t, engine, {}, true)
    const { id } = await newClient({ email: 'ops@example.com' })
    const channels = `/api/clients/${id}/channels`
    const mail = { kind: 'email', name: 'Duty', address: 'duty@example.com' }
    const duty = (await call('POST', channels, mail)).json<{ id: string; channel: string }>()
    const results = (await call('POST', `/api/clients/${id}/test-notification`)).json<TestResult[]>()
    assert.deepEqual(
      results.map(({ channel, delivered, error }) => [channel, delivered, error]),
      [
        ['global', true, null],
        [`email:${id}`, false, 'off: SMTP_URL is not set'],
        [duty.channel, false, 'off: SMTP_URL is not set'],
      ],
    )
    const alone = await call('POST', `${channels}/${duty.id}/test`)
    assert.equal(alone.status, 409)
    assert.match(alone.text, /e-mail is off on this server: set SMTP_URL/)
  },
  logicEngines,
)

testPerEngine(
  'without a channel a test says what is missing',
  async (engine, t) => {
    const { newClient, call } = await stage(t, engine)
    const bare = await newClient()
    const mailed = await newClient({ email: 'ops@example.com' })
    const none = await call('POST', `/api/clients/${bare.id}/test-notification`)
    assert.equal(none.status, 409)
    assert.match(none.text, /No channel is set up: give the client a chat webhook or an e-mail address/)
    assert.match((await call('POST', `/api/clients/${mailed.id}/test-notification`)).text, /e-mail is off.*SMTP_URL/)
    assert.equal((await call('POST', `/api/clients/${MISSING}/test-notification`)).status, 404)
  },
  logicEngines,
)

testPerEngine(
  'channels are listed with how they do, and viewers see no address',
  async (engine, t) => {
    const environment = {
      ADMIN_TOKEN: ADMIN,
      VIEWER_TOKEN: VIEWER,
      SMTP_URL: 'smtp://127.0.0.1:9',
      SMTP_FROM: 'alerts@example.com',
    }
    const { call, hookUrl, store, run, answer, clock, enqueueAbout } = await stage(t, engine, environment, true)
    const as = (token: string) => bearer(token)
    const created = await call(
      'POST',
      '/api/clients',
      { name: 'Acme', chat_webhook: hookUrl, email: 'ops@acme.example' },
      as(ADMIN),
    )
    const client = created.json<{ id: string }>()
    answer.status = 503
    await enqueueAbout(client, ['reminder A'])
    await run()
    const list = async (token: string) => (await call('GET', '/api/channels', undefined, as(token))).json<ChannelList>()
    const { email_enabled, channels } = await list(ADMIN)
    assert.equal(email_enabled, true)
    const host = new URL(hookUrl).host
    assert.deepEqual(
      channels.map(({ channel, client_name, kind, address, state, pending }) => [
        channel,
        client_name,
        kind,
        address,
        state,
        pending,
      ]),
      [
        ['global', null, 'webhook', `http://${host}/…`, 'failing', 1],
        [`chat:${client.id}`, 'Acme', 'webhook', `http://${host}/…`, 'failing', 1],
        [`email:${client.id}`, 'Acme', 'email', 'ops@acme.example', 'failing', 1],
      ],
    )
    const [global] = channels
    assert.match(global?.last_error ?? '', /503/)
    assert.equal(global?.failing_since, '2026-11-20T10:00:00.000Z')
    assert.ok(Date.parse(global?.next_attempt_at ?? '') >= NOW + 10 * SECOND)

    const seen = await list(VIEWER)
    assert.deepEqual(
      seen.channels.map(({ address }) => address),
      [null, null, null],
    )
    assert.equal(seen.channels[2]?.last_error, null)
    const log = await call('GET', '/api/deliveries', undefined, as(VIEWER))
    assert.ok(!log.text.includes('acme.example') && !log.text.includes('secret-path'))
    const path = `/api/clients/${client.id}/test-notification`
    assert.equal((await call('POST', path, undefined, as(VIEWER))).status, 403)

    // What is known of an address says nothing about another.
    await store.write
      .updateTable('clients')
      .set({ chat_webhook: `${hookUrl}/new` })
      .execute()
    clock.advance(SECOND)
    assert.deepEqual((await list(ADMIN)).channels[1]?.state, 'ok')
  },
  logicEngines,
)

test('metrics count attempts by service and outcome, and what waits', async (t) => {
  const { call, newClient, enqueueAbout, run, hookUrl, answer, clock } = await stage(t, sqlite)
  const client = await newClient({ chat_webhook: hookUrl })
  await enqueueAbout(client, ['reminder A', 'opened B'])
  await run()
  answer.status = 404
  clock.advance(10 * SECOND)
  await run()
  clock.advance(5 * SECOND)
  const samples = samplesOf((await call('GET', '/metrics')).text)
  const value = (metric: string, outcome?: string) =>
    samples.find(({ name, labels }) => name === metric && labels.outcome === outcome)?.value
  assert.equal(value('tagwarden_delivery_attempts_total', 'delivered'), 1)
  assert.equal(value('tagwarden_delivery_attempts_total', 'channel_broken'), 1)
  assert.equal(value('tagwarden_deliveries_pending'), 1)
  assert.equal(value('tagwarden_delivery_oldest_pending_seconds'), 5, 'it waited 10 s for others')
  assert.equal(value('tagwarden_channels_off'), 1)
})
