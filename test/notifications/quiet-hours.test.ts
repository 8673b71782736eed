import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isoTime } from '../../src/lib/index.ts'
import { quietUntil } from '../../src/notifications/index.ts'
import { logicEngines, testPerEngine } from '../../testkit/engines.ts'
import { watchedServer } from './watched-server.ts'

const NIGHT = { from: '22:00', to: '07:00' }
const NOON = { from: '12:00', to: '13:30' }

const TIMES: readonly [what: string, hours: typeof NIGHT, zone: string, now: string, until: string | null][] = [
  ['before midnight', NIGHT, 'UTC', '2026-11-20T23:10:00Z', '2026-11-21T07:00:00.000Z'],
  ['after midnight', NIGHT, 'UTC', '2026-11-21T03:00:00Z', '2026-11-21T07:00:00.000Z'],
  ['as they begin', NIGHT, 'UTC', '2026-11-20T22:00:00Z', '2026-11-21T07:00:00.000Z'],
  ['as they end', NIGHT, 'UTC', '2026-11-21T07:00:00Z', null],
  ['by day', NIGHT, 'UTC', '2026-11-20T12:00:00Z', null],
  ['in the night of another zone', NIGHT, 'Asia/Kolkata', '2026-11-20T17:00:00Z', '2026-11-21T01:30:00.000Z'],
  ['in the day of another zone', NIGHT, 'Asia/Kolkata', '2026-11-20T23:10:00Z', '2026-11-21T01:30:00.000Z'],
  ['at noon', NOON, 'UTC', '2026-11-20T13:29:59Z', '2026-11-20T13:30:00.000Z'],
  ['after noon', NOON, 'UTC', '2026-11-20T13:30:00Z', null],
  [
    'in the night in which clocks go forward',
    NIGHT,
    'Europe/Berlin',
    '2026-03-28T22:00:00Z',
    '2026-03-29T05:00:00.000Z',
  ],
  ['in the night in which clocks go back', NIGHT, 'Europe/Berlin', '2026-10-24T21:00:00Z', '2026-10-25T06:00:00.000Z'],
  [
    'where their end does not exist that day',
    { from: '01:00', to: '02:30' },
    'Europe/Berlin',
    '2026-03-29T00:30:00Z',
    '2026-03-29T01:00:00.000Z',
  ],
  [
    'where their end in the night does not exist that day',
    { from: '22:00', to: '02:30' },
    'Europe/Berlin',
    '2026-03-28T22:00:00Z',
    '2026-03-29T01:00:00.000Z',
  ],
  [
    'where clocks go back to before they began',
    { from: '01:45', to: '02:00' },
    'America/New_York',
    '2026-11-01T05:45:00Z',
    '2026-11-01T06:00:00.000Z',
  ],
  [
    'where they begin again as clocks go back',
    { from: '01:45', to: '02:00' },
    'America/New_York',
    '2026-11-01T06:45:00Z',
    '2026-11-01T07:00:00.000Z',
  ],
  ['in a zone that is not known', NIGHT, 'Mars/Base', '2026-11-20T23:10:00Z', '2026-11-21T07:00:00.000Z'],
]
for (const [what, hours, zone, now, until] of TIMES) {
  test(`quiet hours ${what} ${until === null ? 'hold nothing' : `last until ${until}`}`, () => {
    const end = quietUntil(hours, zone, Date.parse(now))
    assert.equal(end === null ? null : isoTime(end), until)
  })
}

const WARNING = '<html>another server</html>'

testPerEngine(
  'a warning waits for the end of the quiet hours, and the operator does not',
  async (engine, t) => {
    const { find, run, clock, client, call, hookUrl, list, service } = await watchedServer(t, engine, {}, true)
    const quiet = { chat_webhook: `${hookUrl}/own`, quiet_from: '09:00', quiet_to: '11:00' }
    assert.equal((await call('PATCH', `/api/clients/${client.id}`, quiet)).status, 200)
    await find(200, WARNING)
    const states = async () =>
      (await list()).map(({ channel, kind, state }) => `${channel.split(':')[0]} ${kind} ${state}`).sort()
    assert.deepEqual(await states(), ['chat opened pending', 'global opened delivered'])
    clock.set(Date.parse('2026-11-20T11:00:00Z'))
    await service.membership.beat()
    await run()
    assert.deepEqual(await states(), ['chat opened delivered', 'global opened delivered'])
  },
  logicEngines,
)

testPerEngine('what becomes critical in quiet hours goes out at once, its opening first', async (engine, t) => {
  const { find, client, call, hookUrl, received } = await watchedServer(t, engine)
  const quiet = { chat_webhook: `${hookUrl}/own`, quiet_from: '09:00', quiet_to: '11:00' }
  await call('PATCH', `/api/clients/${client.id}`, quiet)
  await find(200, WARNING)
  assert.equal(received.length, 0)
  await find(503)
  const events = () => received.map(({ body }) => (JSON.parse(body) as { event: string }).event)
  assert.deepEqual(events(), ['opened', 'escalated'])
  await find(200)
  assert.deepEqual(events(), ['opened', 'escalated', 'resolved'], 'so does the end of what was critical')
})

testPerEngine(
  'what becomes critical in quiet hours is notified although the client wants no escalations',
  async (engine, t) => {
    const { find, client, call, hookUrl, received } = await watchedServer(t, engine)
    const quiet = { chat_webhook: `${hookUrl}/own`, quiet_from: '09:00', quiet_to: '11:00', notify_escalated: false }
    await call('PATCH', `/api/clients/${client.id}`, quiet)
    await find(200, WARNING)
    assert.equal(received.length, 0)
    await find(503)
    assert.deepEqual(
      received.map(({ body }) => (JSON.parse(body) as { event: string }).event),
      ['opened'],
    )
  },
)

testPerEngine('quiet hours have two ends that differ', async (engine, t) => {
  const { client, call } = await watchedServer(t, engine)
  const path = `/api/clients/${client.id}`
  for (const wrong of [
    { quiet_from: '22:00' },
    { quiet_from: '22:00', quiet_to: '22:00' },
    { quiet_from: '24:00', quiet_to: '07:00' },
    { quiet_from: '9:00', quiet_to: '07:00' },
  ]) {
    assert.equal((await call('PATCH', path, wrong)).status, 400, JSON.stringify(wrong))
  }
  assert.equal((await call('PATCH', path, { quiet_from: '22:00', quiet_to: '07:00' })).status, 200)
  assert.equal((await call('PATCH', path, { quiet_from: null })).status, 400)
  assert.equal((await call('PATCH', path, { quiet_from: null, quiet_to: null })).status, 200)
})
