import assert from 'node:assert/strict'
import { DAY, HOUR, newOrderedId, SECOND } from '../../src/lib/index.ts'
import { enqueue, type VendorMessage } from '../../src/notifications/index.ts'
import type { Store } from '../../src/store/index.ts'
import { newClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { DELIVERED, deliveries, openNode, textsOf } from './support.ts'

const globalWebhook = 'https://chat.example/all'

/** Writes a message about a vendor's incident at a time, as one of the nodes does. */
async function write(store: Store, kind: VendorMessage['kind'], id: string, at: number): Promise<void> {
  const incident = { id, title: 'Meta tags fail on 3 of 4 sites', severity: 'critical', started_at: at } as const
  const message = { kind, vendor: 'Meta', incident: { ...incident, resolved_at: null }, sites: [] }
  const channel = { key: 'global', address: globalWebhook } as const
  const entry = { channel, clientId: null, alertId: null, incidentId: id, holdMs: 10 * SECOND, message }
  await store.write.transaction().execute((trx) => enqueue(trx, [entry], at))
}

testOnEveryEngine(
  "a vendor's end follows its opening, on whichever clock it was written, and holds up no other vendor",
  async (store, t) => {
    const clock = newClock()
    const node = await openNode(t, store, clock, () => DELIVERED, { globalWebhook })
    const [id, other] = [newOrderedId(clock.now()), newOrderedId(clock.now())]
    await write(store, 'vendor_opened', id, clock.now() + 20 * SECOND)
    await write(store, 'vendor_resolved', id, clock.now())
    for (let n = 0; n < 3; n++) await write(store, 'vendor_opened', other, clock.now())
    clock.advance(11 * SECOND)
    await node.notifications.run()
    assert.deepEqual(textsOf(node), Array(3).fill('vendor_opened'))
    clock.advance(20 * SECOND)
    await node.membership.beat()
    await node.notifications.run()
    assert.deepEqual(textsOf(node).slice(3), ['vendor_opened', 'vendor_resolved'])
  },
)

testOnEveryEngine(
  "a vendor's end is not sent where its opening was given up, nor that of its return",
  async (store, t) => {
    const clock = newClock()
    let isDown = false
    const node = await openNode(t, store, clock, () => (isDown ? { kind: 'passing', error: 'down' } : DELIVERED), {
      globalWebhook,
    })
    const id = newOrderedId(clock.now())
    const pass = async (ms: number) => {
      clock.advance(ms)
      await node.membership.beat()
      await node.notifications.run()
    }
    const failAndRecover = async () => {
      isDown = true
      await write(store, 'vendor_opened', id, clock.now())
      await pass(DAY)
      await write(store, 'vendor_resolved', id, clock.now())
      isDown = false
      await pass(2 * HOUR)
    }
    const states = async () => (await deliveries(store)).map(({ kind, state }) => `${kind} ${state}`)
    const unknown = ['vendor_opened failed', 'vendor_resolved cancelled']
    await failAndRecover()
    assert.deepEqual(await states(), unknown)
    const known = ['vendor_opened delivered', 'vendor_resolved delivered']
    await write(store, 'vendor_opened', id, clock.now())
    await write(store, 'vendor_resolved', id, clock.now())
    await pass(HOUR)
    assert.deepEqual(await states(), [...unknown, ...known])
    await failAndRecover()
    assert.deepEqual(await states(), [...unknown, ...known, ...unknown])
  },
)
