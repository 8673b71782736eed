import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic } from '../../testkit/engines.ts'
import { typeOf } from '../probes/support.ts'
import { alertRows, watch } from './support.ts'

/** A site that receives nothing, for the reason that the test says. */
async function silentSite(t: TestContext, store: Store) {
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
  return { ...probe, seen }
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
