import assert from 'node:assert/strict'
import { DAY, newOrderedId } from '../../src/lib/index.ts'
import { clearDeliveries } from '../../src/notifications/outbox.ts'
import { chunksOf, type DeliveryRow, type Store } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
const DAYS = 90
/** More than two steps delete. */
const MANY = 4_500

const delivery = (createdAt: number, state: string): DeliveryRow => ({
  id: newOrderedId(createdAt),
  channel: 'global',
  client_id: null,
  alert_id: null,
  incident_id: null,
  kind: 'test',
  message: '{}',
  state,
  created_at: createdAt,
  not_before: createdAt,
  group_id: null,
  attempts: 1,
  last_attempt_at: createdAt,
  last_error: null,
  delivered_at: null,
  receipt: null,
  given_up_at: null,
})

const idsLeft = async (store: Store) =>
  (await store.read.selectFrom('deliveries').select('id').orderBy('id').execute()).map(({ id }) => id)

testOnEveryEngine('all old messages go in one round, some at a time, but for those still to be sent', async (store) => {
  const old = NOW - DAYS * DAY - 1
  const kept = [delivery(old - 1, 'pending'), delivery(NOW - DAYS * DAY, 'delivered')]
  const rows = [...Array.from({ length: MANY }, () => delivery(old, 'delivered')), ...kept]
  for (const chunk of chunksOf(rows)) await store.write.insertInto('deliveries').values(chunk).execute()

  let asked = 0
  await clearDeliveries(store, DAYS, NOW, () => asked++ < 1)
  const left = (await idsLeft(store)).length
  assert.ok(left > kept.length && left < MANY, `${left} left`)
  await clearDeliveries(store, DAYS, NOW, () => true)
  assert.deepEqual(
    await idsLeft(store),
    kept.map(({ id }) => id),
  )
})
