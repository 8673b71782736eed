import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { runDue, typeOf } from '../probes/support.ts'
import { alertRows, deliverAll, outbox, watch } from './support.ts'

type Status = 'ok' | 'warning' | 'critical'

/** A site with the two probes that look at its server. */
async function watchServer(t: TestContext, store: Store) {
  let health: Status = 'ok'
  let infra: Status = 'ok'
  const run = async (): Promise<ProbeOutcome> => ({ status: health, message: `endpoint ${health}`, details: {} })
  const seen = await watch(t, store, { probe_type: 'http_health' }, { type: typeOf(run, { name: 'http_health' }) })
  const other = await watch(
    t,
    store,
    { probe_type: 'tag_server_infra', site_id: seen.site.id },
    {
      type: typeOf(async () => ({ status: infra, message: `hosting ${infra}`, details: {} }), {
        name: 'tag_server_infra',
      }),
    },
  )
  const look = async ({ node, probe, clock }: typeof seen) => {
    clock.set(seen.clock.now())
    await store.write.updateTable('probes').set({ next_run_at: clock.now() }).where('id', '=', probe.id).execute()
    await runDue(node)
    await deliverAll(store, clock.now())
  }
  return {
    ...seen,
    health: (status: Status) => {
      health = status
      return look(seen)
    },
    infra: (status: Status) => {
      infra = status
      return look(other)
    },
  }
}

const messages = async (store: Store) => (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.title}`)

testOnEveryEngine(
  'two probes that see one outage send one message, and the second alert names the first',
  async (store, t) => {
    const { health, infra, clock, upkeep } = await watchServer(t, store)
    await health('critical')
    clock.advance(10 * MINUTE)
    await infra('critical')
    const [first, second] = await alertRows(store)
    assert.equal(second?.suppressed_by, `alert:${first?.id}`)
    const events = await store.write
      .selectFrom('alert_events')
      .select('text')
      .where('alert_id', '=', second?.id ?? '')
      .execute()
    assert.ok(events.some(({ text }) => text === 'No notification: the same outage as “endpoint critical”'))
    clock.advance(MINUTE)
    await health('ok')
    await upkeep()
    clock.advance(MINUTE)
    await infra('ok')
    assert.deepEqual(await messages(store), ['opened endpoint critical', 'resolved endpoint critical'])
  },
)

testOnEveryEngine('an alert that outlasts the outage it began with notifies then', async (store, t) => {
  const { health, infra, clock } = await watchServer(t, store)
  await health('critical')
  await infra('critical')
  clock.advance(MINUTE)
  await health('ok')
  clock.advance(MINUTE)
  await infra('critical')
  assert.deepEqual(await messages(store), [
    'opened endpoint critical',
    'resolved endpoint critical',
    'opened hosting critical',
  ])
})

testOnEveryEngine('an older or lesser alert about the hosting hides no outage', async (store, t) => {
  const { health, infra, clock } = await watchServer(t, store)
  await infra('warning')
  await health('critical')
  assert.deepEqual(await messages(store), ['opened hosting warning', 'opened endpoint critical'])
  await health('ok')
  await infra('critical')
  clock.advance(HOUR)
  await health('critical')
  assert.equal((await messages(store)).at(-1), 'opened endpoint critical')
})
