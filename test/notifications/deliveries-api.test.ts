import assert from 'node:assert/strict'
import type { Access } from '../../src/http/index.ts'
import { HOUR, SECOND } from '../../src/lib/index.ts'
import { retryDelivery } from '../../src/notifications/api/deliveries.ts'
import { type ChannelList, type DeliveryRecord, deliveriesOf } from '../../src/notifications/index.ts'
import { logicEngines, testPerEngine } from '../../testkit/engines.ts'
import { MISSING, stage } from './api-support.ts'
import { alertId } from './support.ts'

testPerEngine('the delivery log is listed newest first, filtered and paged', async (engine, t) => {
  const { newClient, enqueueAbout, run, list, call, clock, hookUrl, store } = await stage(t, engine)
  const one = await newClient({ chat_webhook: hookUrl })
  const two = await newClient({ chat_webhook: hookUrl })
  await enqueueAbout(one, ['opened A', 'escalated B'])
  clock.advance(SECOND)
  await enqueueAbout(two, ['reminder C'])
  await run()
  const all = await list()
  assert.deepEqual(
    all.map(({ kind, title, state }) => `${kind} ${title} ${state}`),
    ['reminder C delivered', 'escalated B delivered', 'opened A pending'],
  )
  assert.deepEqual(
    { ...all[0], id: '', client_id: '', channel: '' },
    {
      id: '',
      channel: '',
      service: 'webhook',
      client_id: '',
      alert_id: alertId('C'),
      kind: 'reminder',
      title: 'C',
      state: 'delivered',
      created_at: '2026-11-20T10:00:01.000Z',
      not_before: '2026-11-20T10:00:01.000Z',
      over_before_due: false,
      group_id: null,
      attempts: 1,
      last_attempt_at: '2026-11-20T10:00:01.000Z',
      last_error: null,
      note: null,
      delivered_at: '2026-11-20T10:00:01.000Z',
    },
  )
  const titles = async (query: string) => (await list(query)).map(({ title }) => title).join()
  assert.equal(await titles(`?client_id=${one.id}`), 'B,A')
  assert.equal(await titles(`?alert_id=${alertId('A')}`), 'A')
  assert.equal(await titles('?state=pending'), 'A')
  assert.equal(await titles(`?before=${all[1]?.id}`), 'A')
  assert.equal(await titles('?before=2026-11-20T10:00:01.000Z'), 'B,A')
  assert.deepEqual(await deliveriesOf(store, alertId('B'), true), [all[1]])
  const page = await call('GET', '/api/deliveries?limit=2')
  assert.equal(page.headers.get('link'), `</api/deliveries?limit=2&before=${all[1]?.id}>; rel="next"`)
  assert.equal((await call('GET', '/api/deliveries?before=yesterday')).status, 400)
  assert.equal((await call('GET', '/api/deliveries?state=lost')).status, 400)
  // Nothing of a deleted client is to be seen.
  await call('DELETE', `/api/clients/${one.id}`)
  assert.equal(await titles(''), 'C')
})

testPerEngine('a retry by hand tries a channel that is off, and a group goes together', async (engine, t) => {
  const { newClient, enqueueAbout, run, list, call, clock, hookUrl, answer, received } = await stage(t, engine)
  const client = await newClient({ chat_webhook: hookUrl })
  answer.status = 404
  await enqueueAbout(client, ['opened A', 'opened B', 'opened C'])
  clock.advance(30 * SECOND)
  await run()
  clock.advance(HOUR)
  await run()
  assert.equal(received.length, 1)
  const [off] = (await call('GET', '/api/channels')).json<ChannelList>().channels
  assert.deepEqual([off?.state, off?.pending, off?.off_since], ['off', 3, '2026-11-20T10:00:30.000Z'])
  // They were given up meanwhile.
  clock.advance(24 * HOUR)
  await run()
  const failed = await list()
  assert.deepEqual(
    failed.map(({ state }) => state),
    ['failed', 'failed', 'failed'],
  )
  assert.match(failed[0]?.last_error ?? '', /^given up after 24 hours: .*404/)

  answer.status = 200
  const retried = await call('POST', `/api/deliveries/${failed[1]?.id}/retry`)
  assert.equal(retried.status, 200, retried.text)
  assert.equal(retried.json<DeliveryRecord>().id, failed[1]?.id)
  await run()
  assert.deepEqual(
    (await list()).map(({ state }) => state),
    ['delivered', 'delivered', 'delivered'],
  )
  assert.equal(received.length, 2)
  assert.equal(received[1]?.headers['idempotency-key'], received[0]?.headers['idempotency-key'])
  const again = await call('POST', `/api/deliveries/${failed[1]?.id}/retry`)
  assert.deepEqual([again.status, again.json<{ error: string }>().error], [409, 'conflict'])
  assert.equal((await call('POST', `/api/deliveries/${MISSING}/retry`)).status, 404)
  const [audit] = (await call('GET', `/api/audit?entity_id=${failed[1]?.id}`)).json<
    { action: string; after: unknown }[]
  >()
  assert.equal(audit?.action, 'delivery.retry')
  assert.deepEqual(audit?.after, { state: 'pending', not_before: '2026-11-21T11:00:30.000Z' })
})

testPerEngine(
  'a retry by hand sends nothing about other clients, though it went with it',
  async (engine, t) => {
    const { newClient, enqueueAbout, list, call, store, clock } = await stage(t, engine, {}, true)
    const [one, two] = [await newClient({}), await newClient({})]
    await enqueueAbout(one, ['resolved A', 'resolved B'])
    await enqueueAbout(two, ['resolved C'])
    await store.write.updateTable('deliveries').set({ state: 'failed', group_id: 'together' }).execute()
    const [, own] = await list(`?client_id=${one.id}`)
    await store.write.updateTable('channels').set({ off_since: clock.now() }).execute()
    const isOff = async () => (await call('GET', '/api/channels')).json<ChannelList>().channels[0]?.state === 'off'
    const access: Access = {
      ...{ role: 'user', actor: 'ada', session: null, credential: null, person: null, holder: null },
      grants: { all: null, clients: new Map([[one.id, 'editor']]) },
    }
    await retryDelivery({ store, clock, actor: 'ada' }, own?.id ?? '', access)
    assert.equal(await isOff(), true, 'what everyone uses is not for who sees one client')
    assert.equal((await call('POST', `/api/deliveries/${own?.id}/retry`)).status, 200)
    assert.equal(await isOff(), false)
    const retryAlso = async (role: 'viewer' | 'editor') => {
      await store.write.updateTable('channels').set({ off_since: clock.now() }).execute()
      const allGrants = { all: role, clients: new Map([[one.id, 'owner' as const]]) }
      await retryDelivery({ store, clock, actor: 'ada' }, own?.id ?? '', { ...access, allGrants })
    }
    await retryAlso('viewer')
    assert.equal(await isOff(), true, 'nor for who only reads the others')
    await retryAlso('editor')
    assert.equal(await isOff(), false, 'an editor of all clients may, with or without a role for this one')
    assert.deepEqual(
      (await list()).map(({ title, state }) => `${title} ${state}`),
      ['C failed', 'B pending', 'A pending'],
    )
  },
  logicEngines,
)

testPerEngine(
  'a cancelled message is not retried',
  async (engine, t) => {
    const { newClient, enqueueAbout, run, list, call, hookUrl } = await stage(t, engine)
    const client = await newClient({ chat_webhook: hookUrl })
    await enqueueAbout(client, ['reminder A'])
    await call('PATCH', `/api/clients/${client.id}`, { chat_webhook: null })
    await run()
    const [row] = await list()
    assert.equal(row?.state, 'cancelled')
    const answer = await call('POST', `/api/deliveries/${row?.id}/retry`)
    assert.equal(answer.status, 409)
    assert.match(answer.text, /the channel no longer has an address/)
  },
  logicEngines,
)
