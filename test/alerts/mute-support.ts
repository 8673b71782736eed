import type { TestContext } from 'node:test'
import { maintenanceRoutes } from '../../src/alerts/maintenance/routes.ts'
import { silenceRoutes } from '../../src/alerts/silences/routes.ts'
import type { ProbeRow, SiteRow, Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertSite } from '../../testkit/sites.ts'
import { openApp } from '../http/support.ts'
import { Management, NOW } from '../management/support.ts'

/** The interface of silences and maintenance over a store with two clients, one site each, one probe each. */
export interface MuteApi extends Management {
  places: { site: SiteRow; probe: ProbeRow }[]
}

export async function openMuteApi(store: Store, t: TestContext): Promise<MuteApi> {
  const clock = new TestClock(NOW)
  const app = await openApp(t, () => undefined, { clock, publicUrl: null })
  silenceRoutes(app, { store, clock })
  maintenanceRoutes(app, { store, clock })
  const places: MuteApi['places'] = []
  for (const timezone of ['Europe/Berlin', 'America/New_York']) {
    const site = await insertSite(store, { timezone })
    places.push({ site, probe: await insertProbe(store, site.id) })
  }
  return Object.assign(new Management(app, clock), { places })
}

/** The place of this number. */
export function placeOf({ places }: MuteApi, index: number): MuteApi['places'][number] {
  const place = places[index]
  if (place === undefined) throw new Error(`there is no place ${index}`)
  return place
}

/** What the audit log holds, oldest first. */
export async function auditOf(store: Store) {
  const rows = await store.write.selectFrom('audit_log').selectAll().orderBy('id').execute()
  return rows.map(({ action, actor, entity_id, before, after }) => ({
    action,
    actor,
    entity_id,
    before: before && JSON.parse(before),
    after: after && JSON.parse(after),
  }))
}
