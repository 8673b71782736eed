import assert from 'node:assert/strict'
import { ownKey } from '../../src/notifications/channel.ts'
import { closeChannel, leaveAddress } from '../../src/notifications/farewell.ts'
import {
  type AlertMessage,
  type AlertMessageKind,
  enqueue,
  type OutboxEntry,
  sayCritical,
  withdrawEnd,
} from '../../src/notifications/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertClient } from '../../testkit/sites.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')
const MINUTE = 60_000
const WAIT = { isOnly: false, briefMs: 30 * MINUTE, certainMs: 0 }

const message = (kind: AlertMessageKind): AlertMessage => ({
  kind,
  alert: {
    id: 'alert',
    severity: kind === 'escalated' ? 'critical' : 'warning',
    state: kind === 'resolved' ? 'resolved' : 'open',
    title: kind,
    message: kind,
    since: NOW,
    opened_at: NOW,
    resolved_at: null,
    resolution: null,
    resolved_by: null,
    occurrences: 1,
  },
  client: { id: 'c', name: 'ACME' },
  site: { id: 's', name: 'shop', url: 'https://shop.example', timezone: 'UTC' },
  probe: { id: 'p', name: 'Volume', probe_type: 'data_volume' },
  facts: [],
  change: null,
})

async function writer(store: Store) {
  const { id: clientId } = await insertClient(store)
  const write = (kind: AlertMessageKind, minutes: number, over: Partial<OutboxEntry> = {}) =>
    store.write.transaction().execute((trx) => {
      const channel = { key: `chat:${clientId}`, address: 'https://hooks.slack.com/services/T0/B0/x' } as const
      const entry = { channel, clientId, alertId: 'alert', message: message(kind), merging: WAIT, ...over }
      return enqueue(trx, [entry], NOW + minutes * MINUTE)
    })
  const rows = async () => {
    const found = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
    return found.map(({ kind, state, message: text, not_before }) => {
      const { alert, untold } = JSON.parse(text) as AlertMessage
      return `${kind} ${state} “${alert.title}” ${untold === undefined ? '' : 'untold '}+${Math.round((not_before - NOW) / MINUTE)}`
    })
  }
  const open = () => write('opened', 0, { holdMs: 30 * MINUTE })
  return { write, rows, open, clientId }
}

testOnEveryEngine('a warning that becomes critical before it was sent opens as critical, at once', async (store) => {
  const { write, rows, open } = await writer(store)
  await open()
  assert.deepEqual(await rows(), ['opened pending “opened” +30'])
  await write('escalated', 12)
  assert.deepEqual(await rows(), ['opened pending “escalated” +12'])
})

testLogic('where no message says so, the opening itself says that it is critical', async (store) => {
  const { rows, open } = await writer(store)
  await open()
  await store.write.transaction().execute((trx) => sayCritical(trx, new Map([['alert', { title: 'worse' }]])))
  assert.deepEqual(await rows(), ['opened pending “worse” +30'])
})

testLogic('a warning whose cause is found before it was sent opens with it, when it was to', async (store) => {
  const { write, rows, open } = await writer(store)
  await open()
  await write('explained', 5)
  assert.deepEqual(await rows(), ['opened pending “explained” +30'])
})

testLogic('what is back, and becomes worse before anyone was notified, says both', async (store) => {
  const { write } = await writer(store)
  const noted = (kind: AlertMessageKind, note: string | null) => ({
    message: {
      ...message(kind),
      incident: { id: 'i', title: 'slow', cause: 'server', alerts: 1, note, elsewhere: null },
    },
  })
  const read = async () => {
    const row = await store.write.selectFrom('deliveries').select('message').executeTakeFirstOrThrow()
    return (JSON.parse(row.message) as AlertMessage).incident?.note
  }
  await write('opened', 0, { holdMs: 30 * MINUTE, ...noted('opened', '“slow” is back, 30 min after its end') })
  await write('widened', 5, noted('widened', null))
  assert.equal(await read(), '“slow” is back, 30 min after its end')
  await write('escalated', 12, noted('escalated', 'Until now: “slow”'))
  assert.equal(await read(), '“slow” is back, 30 min after its end. Until now: “slow”')
})

testLogic('an opening that waits names all events that were added to it meanwhile', async (store) => {
  const { write, open } = await writer(store)
  await open()
  const on = (value: string) => ({ ...message('widened'), facts: [{ name: 'Now also on', value }] })
  await write('widened', 5, { message: on('“purchase”') })
  await write('widened', 10, { message: on('“refund”') })
  await write('escalated', 12)
  const row = await store.write.selectFrom('deliveries').select('message').executeTakeFirstOrThrow()
  assert.deepEqual((JSON.parse(row.message) as AlertMessage).facts, [
    { name: 'Now also on', value: '“purchase”, “refund”' },
  ])
})

testOnEveryEngine(
  'a channel that fails gathers no reminders, which would all say the same in the end',
  async (store) => {
    const { write, rows } = await writer(store)
    await write('opened', 0)
    await store.write.updateTable('deliveries').set({ attempts: 1, last_error: 'status 503' }).execute()
    await write('reminder', 10)
    await write('reminder', 20)
    assert.deepEqual(await rows(), ['opened pending “opened” +0'])
    await store.write.updateTable('deliveries').set({ state: 'delivered' }).execute()
    await write('reminder', 30)
    await write('reminder', 40)
    assert.deepEqual(await rows(), ['opened delivered “opened” +0', 'reminder pending “reminder” +30'])
  },
)

testLogic('a reminder that hands an incident over to someone goes out all the same', async (store) => {
  const { write, rows } = await writer(store)
  await write('opened', 0)
  await store.write.updateTable('deliveries').set({ attempts: 1 }).execute()
  const incident = { id: 'i', title: 'opened', cause: 'server', alerts: 1, elsewhere: null }
  await write('reminder', 10, { message: { ...message('reminder'), incident: { ...incident, note: 'Over to Grace' } } })
  assert.deepEqual(await rows(), ['opened pending “opened” +0', 'reminder pending “reminder” +10'])
})

testLogic('a reminder of what was not sent yet is none', async (store) => {
  const { write, rows, open } = await writer(store)
  await open()
  await write('reminder', 10)
  assert.deepEqual(await rows(), ['opened pending “opened” +30'])
})

testOnEveryEngine('a warning that is over before it was due is not sent', async (store) => {
  const { write, rows, open } = await writer(store)
  await open()
  await write('resolved', 10, { merging: { ...WAIT, isOnly: true } })
  assert.deepEqual(await rows(), ['passed cancelled “opened” +30'])
})

testLogic('one whose end is not certain is kept, and bad again it is as if it had not ended', async (store) => {
  const { write, rows, open, clientId } = await writer(store)
  await open()
  await write('resolved', 10, { holdMs: 90 * MINUTE, merging: { ...WAIT, certainMs: 90 * MINUTE } })
  assert.deepEqual(await rows(), ['passed pending “resolved” untold +100'])
  const again = (minutes: number) =>
    store.write.transaction().execute((trx) => withdrawEnd(trx, 'alert', NOW + minutes * MINUTE))
  assert.deepEqual([...(await again(20))], [`chat:${clientId}`])
  assert.deepEqual(await rows(), ['opened pending “opened” +30'])
  await write('resolved', 25, { holdMs: 90 * MINUTE, merging: { ...WAIT, certainMs: 90 * MINUTE } })
  await again(60)
  assert.deepEqual(await rows(), ['opened pending “opened” +60'])
})

testLogic('what lasted longer than warnings wait, and was held all the same, is one message', async (store) => {
  const { write, rows } = await writer(store)
  await write('opened', 0, { heldUntil: NOW + 480 * MINUTE })
  await write('resolved', 240, { heldUntil: NOW + 480 * MINUTE })
  assert.deepEqual(await rows(), ['resolved pending “resolved” untold +480'])
})

testOnEveryEngine('what was sent already is followed by messages of their own', async (store) => {
  const { write, rows, open } = await writer(store)
  await open()
  await store.write.updateTable('deliveries').set({ state: 'delivered' }).execute()
  await write('escalated', 40)
  await write('resolved', 50, { merging: { ...WAIT, isOnly: true } })
  assert.deepEqual(await rows(), ['opened delivered “opened” +30', 'escalated pending “escalated” +40'])
})

testOnEveryEngine('what is being sent stays as it is', async (store) => {
  const { write, rows, open } = await writer(store)
  await open()
  await store.write.updateTable('deliveries').set({ group_id: 'one' }).execute()
  await write('resolved', 31)
  assert.deepEqual(await rows(), ['opened pending “opened” +30', 'resolved pending “resolved” +31'])
})

for (const what of ['switched off', 'given another key'] as const) {
  testOnEveryEngine(`the end on a channel that was ${what} stands, though the alert is bad again`, async (store) => {
    const { write, rows, clientId } = await writer(store)
    const key = ownKey(clientId, 'pager')
    const address = 'pagerduty+https://events.pagerduty.com/v2/enqueue#R0'
    await write('opened', 0, { channel: { key, address } })
    await store.write.updateTable('deliveries').set({ state: 'delivered', attempts: 1 }).execute()
    await store.write.transaction().execute(async (trx) => {
      if (what === 'switched off') await closeChannel(trx, key, 'channel_off', NOW + MINUTE)
      else await leaveAddress(trx, key, `${address}1`, NOW + MINUTE)
      await withdrawEnd(trx, 'alert', NOW + 2 * MINUTE)
    })
    assert.deepEqual(
      (await rows()).map((row) => row.split(' ', 2).join(' ')),
      ['opened delivered', 'resolved pending'],
    )
  })
}

testLogic('an opening that was not sent says that the incident was passed on since, and to whom', async (store) => {
  const { write, open, rows } = await writer(store)
  await open()
  const reminder = message('reminder')
  const incident = { id: 'i', title: 'x', cause: 'tag', alerts: 1, elsewhere: null }
  await write('reminder', 40, {
    message: { ...reminder, on_call: 'Ben', incident: { ...incident, note: 'passed on to Ben' } },
  })
  assert.deepEqual(await rows(), ['opened pending “reminder” +30'])
  const [row] = await store.read.selectFrom('deliveries').select('message').execute()
  const { kind, on_call, incident: said } = JSON.parse(row?.message ?? '{}') as AlertMessage
  assert.deepEqual([kind, on_call, said?.note], ['opened', 'Ben', 'passed on to Ben'])
})
