import assert from 'node:assert/strict'
import { judgeResults } from '../../src/alerts/on-results.ts'
import { MINUTE } from '../../src/lib/index.ts'
import type { ProbeOutcome } from '../../src/probes/index.ts'
import { newClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { testOutbound } from '../outbound/support.ts'
import { openNode, probeRow, runDue, typeOf } from '../probes/support.ts'
import { alertRows, outbox } from './support.ts'

const CHANNELS = { globalWebhook: 'https://hooks.example/all', isEmailOn: false }

testOnEveryEngine(
  'while our own connection is away no probe of the network opens an alert, and a target that is away after it does',
  async (store, t) => {
    const clock = newClock()
    let isReachable = true
    const reference = await startAnswering(t, (_request, response) => {
      if (isReachable) response.writeHead(204).end()
      else response.destroy()
    })
    let outcome: ProbeOutcome = { status: 'ok', message: 'fine', details: {} }
    const node = await openNode(t, store, clock, [typeOf(async () => outcome)], {
      outbound: testOutbound('127.0.0.1'),
      connectionCheckUrls: [`${reference}/`],
      onResults: (trx, written) => judgeResults(trx, store, written, CHANNELS, clock),
    })
    const ids: string[] = []
    for (let site = 0; site < 3; site++) {
      ids.push((await insertProbe(store, (await insertSite(store)).id, { probe_type: 'fake' })).id)
    }
    const runAll = async () => {
      clock.advance(MINUTE)
      await store.write.updateTable('probes').set({ next_run_at: clock.now() }).execute()
      await runDue(node)
    }
    const down: ProbeOutcome = { status: 'critical', message: 'no answer', details: {}, isNetworkFailure: true }
    await runAll()
    // The first look is beside the first run; the connection is known once one that failed was judged by it.
    outcome = down
    isReachable = true
    await runAll()
    await runAll()
    const before = await alertRows(store)
    assert.ok(before.length === 3 && before.every(({ subject, state }) => subject === 'target' && state === 'open'))
    outcome = { status: 'ok', message: 'fine', details: {} }
    await runAll()
    const sent = (await outbox(store)).length

    isReachable = false
    outcome = down
    for (let run = 0; run < 5; run++) await runAll()
    assert.equal((await alertRows(store)).filter(({ state }) => state === 'open').length, 0)
    assert.equal((await outbox(store)).length, sent)
    const [first = ''] = ids
    const { last_status, recent_statuses } = await probeRow(store, first)
    assert.deepEqual([last_status, recent_statuses.slice(-6)], ['error', 'ouuuuu'])
    assert.match(node.probes.connectionDoubt ?? '', /no connection to the internet/)

    isReachable = true
    await runAll()
    assert.equal(node.probes.connectionDoubt, null)
    assert.equal((await alertRows(store)).filter(({ state }) => state === 'open').length, 3)
  },
)

testOnEveryEngine('an alert about a check stays as it is while our own connection is away', async (store, t) => {
  const clock = newClock()
  let isReachable = true
  const reference = await startAnswering(t, (_request, response) => {
    if (isReachable) response.writeHead(204).end()
    else response.destroy()
  })
  let outcome: ProbeOutcome = { status: 'ok', message: 'fine', details: {} }
  const node = await openNode(t, store, clock, [typeOf(async () => outcome)], {
    outbound: testOutbound('127.0.0.1'),
    connectionCheckUrls: [`${reference}/`],
    onResults: (trx, written) => judgeResults(trx, store, written, CHANNELS, clock),
  })
  await insertProbe(store, (await insertSite(store)).id, { probe_type: 'fake' })
  const runOnce = async () => {
    clock.advance(MINUTE)
    await store.write.updateTable('probes').set({ next_run_at: clock.now() }).execute()
    await runDue(node)
  }
  const unanswered: ProbeOutcome = { status: 'error', message: 'no answer', details: {}, isNetworkFailure: true }
  await runOnce()
  outcome = unanswered
  for (let run = 0; run < 3; run++) await runOnce()
  const states = async () => (await alertRows(store)).map(({ subject, state }) => `${subject} ${state}`)
  assert.deepEqual(await states(), ['check open'])
  isReachable = false
  for (let run = 0; run < 3; run++) await runOnce()
  assert.deepEqual(await states(), ['check open'])
})
