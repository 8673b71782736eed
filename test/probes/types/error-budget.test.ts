import assert from 'node:assert/strict'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'
import { errorBudget } from '../../../src/probes/types/error-budget.ts'
import type { SiteRow, Store } from '../../../src/store/index.ts'
import { insertAlert } from '../../../testkit/alerts.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertProbe, newResultRow } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { runType } from './run-type.ts'

/** A site with a target, of which a probe has judged something every quarter of an hour of the last day. */
async function watchedSite(store: Store): Promise<SiteRow> {
  const site = await insertSite(store, { slo_target: 99.5, created_at: NOW - 60 * DAY })
  const probe = await insertProbe(store, site.id, { interval_seconds: 900, probe_type: 'data_freshness' })
  const rows = []
  for (let at = NOW - DAY; at < NOW; at += 15 * MINUTE) {
    rows.push(newResultRow(probe.id, at))
  }
  await store.write.insertInto('probe_results').values(rows).execute()
  return site
}

testLogic(
  'error_budget: critical time that spends the budget too fast is critical, and says what is left',
  async (store, t) => {
    const site = await watchedSite(store)
    const run = () => runType(t, errorBudget, { site, store })
    assert.deepEqual(
      [(await run()).status, (await run()).message],
      ['ok', 'The error budget of 30 days is fine: 100 % of 3 h 36 min left'],
    )
    const confirmed = { confirmed_at: NOW }
    // What warns, what is not confirmed and what says how much is spent, spends nothing.
    await insertAlert(store, site, NOW - HOUR, { ...confirmed, severity: 'warning' })
    await insertAlert(store, site, NOW - HOUR)
    await insertAlert(store, site, NOW - HOUR, { ...confirmed, probe_type: 'error_budget' })
    assert.equal((await run()).status, 'ok')
    await insertAlert(store, site, NOW - 10 * HOUR, { ...confirmed, state: 'resolved', resolved_at: NOW - 8 * HOUR })
    await insertAlert(store, site, NOW - 12 * MINUTE, confirmed)
    const { status, message } = await run()
    assert.equal(status, 'critical')
    assert.equal(
      message,
      'The error budget burns 40 times too fast: critical for 12 min of the last 60 min; 38 % of 3 h 36 min left',
    )
  },
)

testOnEveryEngine('error_budget: a site of which no other probe judges anything is not judged', async (store, t) => {
  const site = await insertSite(store, { slo_target: 99.5, created_at: NOW - 60 * DAY })
  const { status, reason } = await runType(t, errorBudget, { site, store })
  assert.deepEqual([status, reason], ['ok', 'no_data'])
})
