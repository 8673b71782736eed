import assert from 'node:assert/strict'
import { listIncidents } from '../../src/alerts/incidents/read-incidents.ts'
import { listAlerts } from '../../src/alerts/read-alerts.ts'
import { HOUR, isoTime, MINUTE, newId } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { NOW } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertSite } from '../../testkit/sites.ts'

const LISTS = [
  ['alerts', insertAlert, listAlerts],
  ['incidents', insertIncident, listIncidents],
] as const

for (const [what, insert, list] of LISTS) {
  testOnEveryEngine(`${what} are listed by their end page by page, whenever they began`, async (store) => {
    const site = await insertSite(store)
    const ended = (hoursAgo: number, endedAgo: number) =>
      insert(store, site, NOW - hoursAgo * HOUR, { state: 'resolved', resolved_at: NOW - endedAgo * MINUTE })
    const rows = [await ended(20, 1), await ended(2, 2), await ended(1, 2), await ended(8, 2), await ended(3, 90)]
    const open = await insert(store, site, NOW, {})
    const [long, two, one, eight, old] = rows.map(({ id }) => id)
    const sorted = [long, one, two, eight, old]
    const ids = async (query: { before?: string; limit?: number; client_id?: string }) =>
      (await list(store, null, { order: 'resolved', ...query })).entries.map(({ id }) => id)
    assert.deepEqual(await ids({}), sorted)
    assert.deepEqual(await ids({ client_id: newId() }), [])
    for (let limit = 1; limit <= 3; limit++) {
      const seen: string[] = []
      for (let next: string | null = ''; next !== null; ) {
        const page: { entries: { id: string }[]; next: string | null } = await list(store, null, {
          order: 'resolved',
          limit,
          ...(next !== '' && { before: next }),
        })
        seen.push(...page.entries.map(({ id }) => id))
        next = page.next
      }
      assert.deepEqual(seen, sorted, `${limit} a page`)
    }
    assert.deepEqual(await ids({ before: isoTime(NOW - 2 * MINUTE) }), [old])
    // It opened again since: what follows it is no longer known, and no page may look like the last one.
    for (const before of [open.id, newId(), 'yesterday']) await assert.rejects(ids({ before }), /resolved/)
  })
}
