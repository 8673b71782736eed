import assert from 'node:assert/strict'
import { eventPayload } from '../../testkit/deltas.ts'
import { testPerEngine } from '../../testkit/engines.ts'
import { until } from '../../testkit/until.ts'
import { stage } from '../notifications/api-support.ts'

interface QuotaNotification {
  event: string
  text: string
  client: { id: string }
}

testPerEngine(
  'a webhook receives one message when the quota is nearly used up, and one when it is',
  async (engine, t) => {
    const { received, hookUrl, clock, run, list, service, ...api } = await stage(t, engine)
    const client = await api.newClient({ name: 'ACME', events_per_month: 10, chat_webhook: hookUrl })
    const site = await api.newSite(client)
    const loop = service.worker?.loops.find(({ name }) => name === 'quota-messages')
    assert.ok(loop !== undefined)
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent++) {
        const answer = await api.ingest(site, eventPayload({ timestamp_ms: clock.now() }))
        assert.equal(answer.status, 200, answer.text)
      }
    }
    /** The webhook's messages, once there are so many. */
    const messages = (count: number) =>
      until(`${count} messages`, async () => {
        await service.membership.beat()
        await loop.tick()
        await run()
        return received.length >= count ? received.map(({ body }) => JSON.parse(body) as QuotaNotification) : undefined
      })

    await send(8)
    const [near] = await messages(1)
    assert.equal(near?.event, 'quota')
    assert.equal(near?.client.id, client.id)
    assert.match(near?.text ?? '', /^\[WARNING\] ACME — quota nearly used up: 80 % of this month's events are used\n/)

    await send(2)
    assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: clock.now() }))).status, 429)
    const all = await messages(2)
    assert.match(all[1]?.text ?? '', /^\[CRITICAL\] ACME — quota used up: .* refused \(429\), and nothing is counted\n/)

    for (let looks = 0; looks < 3; looks++) await messages(2)
    assert.equal(received.length, 2)
    assert.deepEqual(
      (await list()).map(({ kind, title, state }) => [kind, title, state]),
      [
        ['quota', 'Quota used up', 'delivered'],
        ['quota', 'Quota nearly used up', 'delivered'],
      ],
    )

    assert.equal((await api.call('DELETE', `/api/clients/${client.id}`)).status, 204)
    assert.deepEqual(await service.store.read.selectFrom('quota_messages').selectAll().execute(), [])
  },
)
