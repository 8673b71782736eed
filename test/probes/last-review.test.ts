import assert from 'node:assert/strict'
import { MINUTE, newId } from '../../src/lib/index.ts'
import { lastReview } from '../../src/probes/run-probe.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { NOW } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'

testOnEveryEngine('the last review is the last acknowledgement or the last end by hand', async (store) => {
  const site = { id: newId(), client_id: newId() }
  const probe_id = newId()
  const review = () => lastReview(store, probe_id)
  assert.equal(await review(), null)
  await insertAlert(store, site, NOW, {
    probe_id,
    state: 'resolved',
    resolution: 'recovered',
    resolved_at: NOW + MINUTE,
  })
  await insertAlert(store, site, NOW, { acknowledged_at: NOW + 9 * MINUTE })
  assert.equal(await review(), null)
  await insertAlert(store, site, NOW + MINUTE, {
    probe_id,
    state: 'resolved',
    resolution: 'manual',
    acknowledged_at: NOW + 2 * MINUTE,
    resolved_at: NOW + 5 * MINUTE,
  })
  assert.equal(await review(), NOW + 5 * MINUTE)
  await insertAlert(store, site, NOW + 6 * MINUTE, { probe_id, acknowledged_at: NOW + 7 * MINUTE })
  assert.equal(await review(), NOW + 7 * MINUTE)
})
