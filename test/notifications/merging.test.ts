import assert from 'node:assert/strict'
import {
  type AlertMessage,
  type AlertMessageKind,
  enqueue,
  WARNING_WAIT_MS,
  withdrawEnd,
} from '../../src/notifications/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertClient } from '../../testkit/sites.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

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
  const write = (kind: AlertMessageKind, minutes: number, over: { holdMs?: number; onlyMerged?: boolean } = {}) =>
    store.write.transaction().execute((trx) => {
      const channel = { key: `chat:${clientId}`, address: 'https://hooks.slack.com/services/T0/B0/x' } as const
      const entry = { channel, clientId, alertId: 'alert', message: message(kind), merges: true, ...over }
      return enqueue(trx, [entry], NOW + minutes * 60_000)
    })
  const rows = async () => {
    const found = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
    return found.map(({ kind, state, message: text, not_before }) => {
      const { alert, untold } = JSON.parse(text) as AlertMessage
      return `${kind} ${state} “${alert.title}” ${untold === undefined ? '' : 'untold '}+${Math.round((not_before - NOW) / 60_000)}`
    })
  }
  return { write, rows }
}

testOnEveryEngine('a warning that becomes critical before it was sent opens as critical, at once', async (store) => {
  const { write, rows } = await writer(store)
  await write('opened', 0, { holdMs: WARNING_WAIT_MS })
  assert.deepEqual(await rows(), ['opened pending “opened” +30'])
  await write('escalated', 12)
  assert.deepEqual(await rows(), ['opened pending “escalated” +12'])
})

testOnEveryEngine('a warning whose cause is found before it was sent opens with it, when it was to', async (store) => {
  const { write, rows } = await writer(store)
  await write('opened', 0, { holdMs: WARNING_WAIT_MS })
  await write('explained', 5)
  assert.deepEqual(await rows(), ['opened pending “explained” +30'])
})

testOnEveryEngine(
  'a warning that is over before it was sent is one message, also where no ends are wanted',
  async (store) => {
    const { write, rows } = await writer(store)
    await write('opened', 0, { holdMs: WARNING_WAIT_MS })
    await write('resolved', 10, { holdMs: 90 * 60_000, onlyMerged: true })
    assert.deepEqual(await rows(), ['resolved pending “resolved” untold +100'])
    const isUntold = await store.write.transaction().execute((trx) => withdrawEnd(trx, 'alert', NOW + 20 * 60_000))
    assert.equal(isUntold, true)
    assert.deepEqual(await rows(), ['opened pending “opened” +20'], 'bad again, it is as if it had not ended')
  },
)

testOnEveryEngine('what was sent already is followed by messages of their own', async (store) => {
  const { write, rows } = await writer(store)
  await write('opened', 0, { holdMs: WARNING_WAIT_MS })
  await store.write.updateTable('deliveries').set({ state: 'delivered' }).execute()
  await write('escalated', 40)
  await write('resolved', 50, { onlyMerged: true })
  assert.deepEqual(await rows(), ['opened delivered “opened” +30', 'escalated pending “escalated” +40'])
})
