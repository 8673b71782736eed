import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HOUR, monthOf } from '../../src/lib/index.ts'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { typeOf } from '../probes/support.ts'
import { alertRows, outbox, watch } from './support.ts'

/** A site that receives nothing, for the reason that the test says. */
async function silentSite(t: TestContext, store: Store, step: 80 | 100 = 100) {
  const seen = { why: 'quota' as string | null, isOver: false }
  const run = async (): Promise<ProbeOutcome> => {
    if (seen.isOver) return { status: 'ok', message: 'fine', details: {}, findings: [] }
    const refused = { findings: [], refused: { why: seen.why } }
    const details = seen.why === null ? { findings: [{ subject: {} }] } : refused
    const said = { status: 'critical', message: 'No events arrive', details } as const
    return { ...said, findings: [{ ...said, subject: {}, startedAt: null }] }
  }
  const probe = await watch(
    t,
    store,
    { probe_type: 'data_freshness' },
    { type: typeOf(run, { name: 'data_freshness' }) },
  )
  const said = { month: monthOf(probe.clock.now()), quota: 1_000, step, written_at: 0 }
  await store.write
    .insertInto('quota_messages')
    .values({ client_id: probe.site.client_id, ...said })
    .execute()
  const kinds = async () => (await outbox(store)).map(({ kind }) => kind)
  return { ...probe, seen, kinds }
}

testLogic('what is refused for hours is one alert', async (store, t) => {
  const { find, seen } = await silentSite(t, store)
  seen.why = 'key_revoked'
  await find('ooo')
  assert.deepEqual(
    (await alertRows(store)).map(({ state, occurrences }) => [state, occurrences]),
    [['open', 3]],
  )
})

testOnEveryEngine(
  'of a used-up quota the message about the quota notifies, and no site by itself',
  async (store, t) => {
    const { find, upkeep, kinds, clock, seen } = await silentSite(t, store)
    await find('oo')
    clock.advance(HOUR)
    await upkeep()
    const [alert] = await alertRows(store)
    assert.deepEqual([alert?.state, alert?.suppressed_by], ['open', 'quota'])
    assert.deepEqual(await kinds(), [])
    const said = await store.read.selectFrom('alert_events').select('text').where('kind', '=', 'suppressed').execute()
    assert.deepEqual(said, [{ text: "No notification: the message about the client's quota covers it" }], 'once')
    seen.isOver = true
    await find('o')
    assert.deepEqual(await kinds(), [])
  },
)

testLogic(
  'a site whose batches are refused before its quota is said to be used up is notified about',
  async (store, t) => {
    const { find, kinds } = await silentSite(t, store, 80)
    await find('o')
    assert.deepEqual(await kinds(), ['opened'])
  },
)

testLogic('a site that stays silent with a new quota is notified about', async (store, t) => {
  const { find, kinds, seen } = await silentSite(t, store)
  await find('o')
  seen.why = null
  await find('o')
  assert.deepEqual(await kinds(), ['opened'])
})

testLogic(
  'a silence that people know of ends with a message, though the quota was used up meanwhile',
  async (store, t) => {
    const { find, kinds, seen } = await silentSite(t, store)
    seen.why = null
    await find('o')
    seen.why = 'quota'
    await find('o')
    seen.isOver = true
    await find('o')
    assert.deepEqual(await kinds(), ['opened', 'resolved'])
  },
)

testLogic('a pager, which no message about a quota reaches, pages', async (store, t) => {
  const { find, kinds, site } = await silentSite(t, store)
  const address = 'pagerduty+https://events.pagerduty.com/v2/enqueue#0123456789abcdef'
  await store.write
    .insertInto('client_channels')
    .values({
      ...{ id: 'p', client_id: site.client_id, kind: 'pagerduty', name: 'Pager', created_at: 0, is_active: 1 },
      ...{ minimum_severity: 'critical', address },
    })
    .execute()
  await find('o')
  assert.deepEqual([...new Set(await kinds())], ['opened'])
})

testLogic('what is refused for another reason is notified about', async (store, t) => {
  const { find, kinds, seen } = await silentSite(t, store)
  seen.why = 'key_revoked'
  await find('o')
  assert.deepEqual(await kinds(), ['opened'])
})
