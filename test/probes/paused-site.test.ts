import assert from 'node:assert/strict'
import { foldOrphans } from '../../src/journal/index.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { updateClient, updateSite } from '../../src/management/index.ts'
import { dataFreshness } from '../../src/probes/types/data-freshness.ts'
import { dataVolume } from '../../src/probes/types/data-volume.ts'
import { rollUp } from '../../src/rollups/index.ts'
import { NOW, TestClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { openNode, resultsOf, runDue } from './support.ts'

const PAUSED = NOW - 50 * HOUR

testOnEveryEngine(
  'the days of a pause are no silence, and a silence that goes on after them is one',
  async (store, t) => {
    const clock = new TestClock(PAUSED)
    const ctx = { store, clock, actor: 'admin' }
    const site = await insertSite(store, { created_at: NOW - 12 * DAY })
    const sent = Array.from({ length: 2_800 }, (_, n) => eventPayload({ timestamp_ms: PAUSED - n * 5 * MINUTE }))
    await writeJournal(store, 'gone', 1, deltaOf(site.site_no, sent, PAUSED))
    await foldOrphans(store, [])
    await rollUp(store, NOW)
    // Of two pauses that overlap, each hour counts once.
    await updateSite(ctx, site.id, { is_active: false })
    clock.advance(HOUR)
    await updateClient(ctx, site.client_id, { is_active: false }, true)
    clock.advance(HOUR)
    await updateClient(ctx, site.client_id, { is_active: true }, true)
    clock.set(NOW)
    await updateSite(ctx, site.id, { is_active: true })

    const said = async (at: number) => {
      clock.set(at)
      const types = [dataFreshness, dataVolume]
      const probes = []
      for (const { name } of types) probes.push(await insertProbe(store, site.id, { probe_type: name }))
      await runDue(await openNode(t, store, clock, types))
      const results = await Promise.all(probes.map(({ id }) => resultsOf(store, id)))
      return results.flat()
    }
    assert.deepEqual(
      (await said(NOW + 5 * MINUTE)).map(({ status }) => status),
      ['ok', 'ok'],
    )
    const [fresh, volume] = await said(NOW + 8 * HOUR)
    assert.deepEqual([fresh?.status, volume?.status], ['critical', 'critical'])
    assert.match(
      fresh?.message ?? '',
      /^nothing received for 8 h \(not counting 2 days in which no event was accepted\)/,
    )
  },
)
