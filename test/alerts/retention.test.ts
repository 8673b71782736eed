import assert from 'node:assert/strict'
import { clearAlerts } from '../../src/alerts/alerts.ts'
import { DAY, newOrderedId } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
const DAYS = 90
/** More than two steps delete. */
const MANY = 450

async function idsLeft(store: Store): Promise<string[]> {
  const alerts = await store.read.selectFrom('alerts').select('id').orderBy('id').execute()
  const lines = await store.read.selectFrom('alert_events').select('alert_id').orderBy('alert_id').execute()
  const ids = alerts.map(({ id }) => id)
  assert.deepEqual(
    lines.map(({ alert_id }) => alert_id),
    ids,
  )
  return ids
}

testOnEveryEngine(
  'all alerts that ended long ago go in one round, some at a time, with their timelines',
  async (store) => {
    const site = await insertSite(store)
    const began = NOW - 200 * DAY
    const insert = async (resolved_at: number | null) => {
      const state = resolved_at === null ? 'open' : 'resolved'
      const { id } = await insertAlert(store, site, began, { state, resolved_at })
      const line = { alert_id: id, id: newOrderedId(began), at: began, kind: 'opened', actor: null, text: 'It is down' }
      await store.write.insertInto('alert_events').values(line).execute()
      return id
    }
    for (let count = 0; count < MANY; count++) await insert(NOW - DAYS * DAY - 1)
    const kept = [await insert(NOW - DAYS * DAY), await insert(null)]

    let asked = 0
    await clearAlerts(store, DAYS, NOW, () => asked++ < 1)
    const left = (await idsLeft(store)).length
    assert.ok(left > kept.length && left < MANY, `${left} left`)
    await clearAlerts(store, DAYS, NOW, () => true)
    assert.deepEqual(await idsLeft(store), kept)
  },
)
