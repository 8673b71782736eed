import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { clearAlerts } from '../../../src/alerts/alerts.ts'
import { clearIncidents } from '../../../src/alerts/incidents/remove.ts'
import { DAY, newOrderedId } from '../../../src/lib/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { insertAlert } from '../../../testkit/alerts.ts'
import { NOW } from '../../../testkit/clock.ts'
import { testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { alertRows, outbox, watch } from '../support.ts'

const DAYS = 90

const incidentIds = async (store: Store) =>
  (await store.write.selectFrom('incidents').select('id').orderBy('id').execute()).map(({ id }) => id)

testOnEveryEngine('alert, incident and message are written together or not at all', async (store, t) => {
  const { find, node } = await watch(t, store, {}, { delivers: false })
  // The outbox is what is written last.
  await sql`alter table deliveries rename to deliveries_away`.execute(store.write)
  await find('c')
  assert.deepEqual([await alertRows(store), await incidentIds(store)], [[], []])
  assert.match(node.errors.splice(0).join(), /deliveries/)
  await sql`alter table deliveries_away rename to deliveries`.execute(store.write)
  await find('c')
  const [alert, ...others] = await alertRows(store)
  assert.deepEqual(others, [])
  assert.deepEqual(await incidentIds(store), [alert?.incident_id])
  assert.deepEqual(
    (await outbox(store)).map(({ kind, incident }) => [kind, incident?.id]),
    [['opened', alert?.incident_id]],
  )
})

testOnEveryEngine(
  'incidents go some time after they ended, after their alerts, and keep these until then',
  async (store) => {
    const site = await insertSite(store)
    const ended = NOW - DAYS * DAY - 1
    const insert = async (state: 'open' | 'resolved', at: number | null) => {
      const id = newOrderedId(NOW - 200 * DAY)
      const row = {
        scope: 'site',
        client_id: site.client_id,
        site_id: site.id,
        cause: 'server',
        title: 'down',
        severity: 'critical',
      }
      await store.write
        .insertInto('incidents')
        .values({ id, ...row, state, started_at: 0, opened_at: 0, resolved_at: at })
        .execute()
      await store.write
        .insertInto('incident_events')
        .values({ incident_id: id, id, at: 0, kind: 'opened', actor: null, text: '' })
        .execute()
      await store.write
        .insertInto('incident_notes')
        .values({ incident_id: id, id, at: 0, author: 'Ada', text: '' })
        .execute()
      // The one that opened it is long over.
      await insertAlert(store, site, NOW - 200 * DAY, { state: 'resolved', resolved_at: ended, incident_id: id })
      return id
    }
    await insert('resolved', ended)
    const kept = [await insert('resolved', ended + 2), await insert('open', null)]
    await clearIncidents(store, DAYS, NOW, () => true)
    assert.equal((await incidentIds(store)).length, 3, 'its alerts go first')
    await clearAlerts(store, DAYS, NOW, () => true)
    await clearIncidents(store, DAYS, NOW, () => true)
    assert.deepEqual(await incidentIds(store), kept)
    assert.deepEqual(
      (await alertRows(store)).map(({ incident_id }) => incident_id),
      [kept[1]],
    )
    for (const table of ['incident_events', 'incident_notes'] as const) {
      const rows = await store.read.selectFrom(table).select('incident_id').orderBy('incident_id').execute()
      assert.deepEqual(
        rows.map(({ incident_id }) => incident_id),
        kept,
        table,
      )
    }
  },
)
