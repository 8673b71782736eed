import assert from 'node:assert/strict'
import { foldOrphans } from '../../src/journal/index.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { dataFreshness } from '../../src/probes/types/data-freshness.ts'
import { rollUp } from '../../src/rollups/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { openNode, resultsOf, runDue } from './support.ts'

/** Lets a site have received at `to` an event for every five minutes of the day before that. */
async function receive(store: Store, site: SiteRow, seq: number, from: number, to: number): Promise<void> {
  const count = Math.ceil((to - from) / (5 * MINUTE))
  const payloads = Array.from({ length: count }, (_, n) => eventPayload({ timestamp_ms: from + n * 5 * MINUTE }))
  await writeJournal(store, 'gone', seq, deltaOf(site.site_no, payloads, to))
}

async function siteSilentSince(store: Store, since: number): Promise<SiteRow> {
  const site = await insertSite(store, { created_at: NOW - 3 * DAY })
  await receive(store, site, 1, NOW - 3 * DAY, NOW - 2 * DAY)
  await receive(store, site, 2, NOW - 2 * DAY, NOW - DAY)
  await receive(store, site, 3, NOW - DAY, since)
  await foldOrphans(store, [])
  await rollUp(store, NOW)
  return site
}

testLogic('data_freshness: a site that sent until now is fine', async (store, t) => {
  const site = await siteSilentSince(store, NOW)
  const probe = await insertProbe(store, site.id, { probe_type: 'data_freshness' })
  await runDue(await openNode(t, store, newClock(), [dataFreshness]))
  const [result] = await resultsOf(store, probe.id)
  assert.deepEqual([result?.status, result?.message], ['ok', 'last event just now'])
})

testLogic('data_freshness: silence in hours that had events the day before is critical', async (store, t) => {
  const site = await siteSilentSince(store, NOW - 7 * HOUR)
  const probe = await insertProbe(store, site.id, { probe_type: 'data_freshness' })
  const tolerant = await insertProbe(store, site.id, {
    probe_type: 'data_freshness',
    config: '{"min_silence_minutes":480}',
  })
  await runDue(await openNode(t, store, newClock(), [dataFreshness]))
  const [result] = await resultsOf(store, probe.id)
  assert.equal(result?.status, 'critical', result?.message)
  assert.match(result?.message ?? '', /^nothing received for /)
  const details = JSON.parse(result?.details ?? '') as { findings: { since: string; measured: number }[] }
  assert.equal(details.findings[0]?.since, isoTime(NOW - 7 * HOUR))
  assert.equal(details.findings[0]?.measured, 420)
  assert.equal((await resultsOf(store, tolerant.id))[0]?.status, 'ok')
})

testLogic(
  'data_freshness: a site with a few events a day is never said to be fine, as none of its silences could be bad',
  async (store, t) => {
    const site = await insertSite(store, { created_at: NOW - 9 * DAY })
    const payloads = Array.from({ length: 20 }, (_, n) => eventPayload({ timestamp_ms: NOW - 9 * DAY + n * 5 * HOUR }))
    for (const [seq, payload] of payloads.entries()) {
      await writeJournal(store, 'gone', seq, deltaOf(site.site_no, [payload], payload.timestamp_ms))
    }
    await foldOrphans(store, [])
    await rollUp(store, NOW)
    const probe = await insertProbe(store, site.id, { probe_type: 'data_freshness' })
    await runDue(await openNode(t, store, newClock(), [dataFreshness]))
    const [result] = await resultsOf(store, probe.id)
    assert.deepEqual([result?.status, result?.reason], ['ok', 'learning'])
    assert.match(
      result?.message ?? '',
      /^Learning: last event 5 days ago, usually [\d.]+ events in 24 h; judging starts once \d+ are usual$/,
    )
  },
)

testLogic('data_freshness: a site that never sent is not judged', async (store, t) => {
  const site = await insertSite(store)
  const probe = await insertProbe(store, site.id, { probe_type: 'data_freshness' })
  await runDue(await openNode(t, store, newClock(), [dataFreshness]))
  const [result] = await resultsOf(store, probe.id)
  assert.deepEqual([result?.status, result?.reason, result?.message], ['ok', 'no_data', 'No event has arrived yet'])
})

testOnEveryEngine(
  'data_freshness: feedback on an alert counts from the next run on, and so does taking it back',
  async (store, t) => {
    const site = await siteSilentSince(store, NOW - 7 * HOUR)
    const probe = await insertProbe(store, site.id, { probe_type: 'data_freshness' })
    const clock = newClock()
    const node = await openNode(t, store, clock, [dataFreshness])
    const widening = async () => {
      await store.write.updateTable('probes').set({ next_run_at: clock.now() }).execute()
      await runDue(node)
      clock.advance(MINUTE)
      const { findings } = JSON.parse((await resultsOf(store, probe.id)).at(-1)?.details ?? '') as {
        findings: { evidence: { widening?: number } }[]
      }
      return findings.map(({ evidence }) => evidence.widening)
    }
    assert.deepEqual(await widening(), [undefined])
    const about = { site_id: site.id, event_name: null, given_at: NOW, given_by: 'Ada' }
    const lasting = { ...about, alert_id: 'a', verdict: 'not_a_problem', began_at: NOW - 7 * HOUR, ended_at: null }
    const earlier = {
      ...about,
      alert_id: 'b',
      verdict: 'not_a_problem',
      began_at: NOW - DAY,
      ended_at: NOW - 23 * HOUR,
    }
    const foreign = { ...lasting, alert_id: 'c', site_id: 'another', began_at: NOW - 12 * HOUR }
    await store.write.insertInto('alert_feedback').values([lasting, foreign]).execute()
    assert.deepEqual(await widening(), [1.5])
    await store.write.insertInto('alert_feedback').values(earlier).execute()
    assert.deepEqual(await widening(), [2.25])
    await store.write.deleteFrom('alert_feedback').execute()
    assert.deepEqual(await widening(), [undefined])
  },
)

testLogic('data_freshness: on a marked day a silence is less of a surprise, from the next run on', async (store, t) => {
  const site = await siteSilentSince(store, NOW - 7 * HOUR)
  const probe = await insertProbe(store, site.id, { probe_type: 'data_freshness' })
  const clock = newClock()
  const node = await openNode(t, store, clock, [dataFreshness])
  const surprise = async () => {
    await store.write.updateTable('probes').set({ next_run_at: clock.now() }).execute()
    await runDue(node)
    const { findings } = JSON.parse((await resultsOf(store, probe.id)).at(-1)?.details ?? '') as {
      findings: { evidence: { surprise: number } }[]
    }
    return findings[0]?.evidence.surprise ?? 0
  }
  const before = await surprise()
  const today = isoTime(NOW).slice(0, 10)
  const day = {
    id: 'a',
    site_id: site.id,
    first_day: today,
    last_day: today,
    note: null,
    created_at: NOW,
    created_by: 'Ada',
  }
  await store.write.insertInto('special_days').values(day).execute()
  clock.advance(1)
  const marked = await surprise()
  assert.ok(marked > 0 && marked < 0.6 * before, `${marked} after ${before}`)
})
