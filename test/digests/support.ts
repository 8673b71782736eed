import type { TestContext } from 'node:test'
import { Digests, type DigestsOptions } from '../../src/digests/index.ts'
import { newId, newOrderedId } from '../../src/lib/index.ts'
import type { DigestMessage } from '../../src/notifications/index.ts'
import type { AlertRow, ClientRow, IncidentRow, SiteRow, Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { TestClock } from '../../testkit/clock.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertSite } from '../../testkit/sites.ts'
import { RETENTION } from '../analytics/support.ts'
import { joinNode } from '../cluster/support.ts'

/** Half past seven on a Friday in Berlin. */
export const NOW = '2026-11-20T06:30:00.000Z'

/** A client that gets digests, with one site in Berlin; `over` replaces fields of the client. */
export async function insertReader(store: Store, over: Partial<ClientRow> = {}): Promise<SiteRow> {
  const site = await insertSite(store, { timezone: 'Europe/Berlin' })
  await store.write
    .updateTable('clients')
    .set({ email: 'ops@acme.example', digest: 'daily', ...over })
    .where('id', '=', site.client_id)
    .execute()
  return site
}

export interface DigestNode {
  digests: Digests
  clock: TestClock
  errors: string[]
  /** Lets the loops run once. */
  tick: () => Promise<void>
}

/** A node that writes digests when the test says so. */
export async function openDigests(
  t: TestContext,
  store: Store,
  now: string = NOW,
  over: Partial<DigestsOptions> = {},
): Promise<DigestNode> {
  const clock = new TestClock(now)
  const { leases, membership, errors } = await joinNode(t, store, clock)
  const digests = new Digests({
    store,
    clock,
    retention: RETENTION,
    leases,
    isEmailOn: true,
    onError: (error, what) => errors.push(`${what}: ${error.message}`),
    ...over,
  })
  t.after(() => digests.stop())
  const tick = async () => {
    await membership.beat()
    for (const loop of digests.loops) await loop.tick()
  }
  return { digests, clock, errors, tick }
}

/** The digests in the outbox, in their order. */
export async function written(store: Store) {
  const rows = await store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()
  return rows.map(({ channel, client_id, alert_id, kind, state, message }) => ({
    channel,
    client_id,
    alert_id,
    kind,
    state,
    message: JSON.parse(message) as DigestMessage,
  }))
}

export const notes = (store: Store) =>
  store.write.selectFrom('digests').selectAll().orderBy('client_id').orderBy('period_end').execute()

/** Writes an incident with one alert straight into the store, which people were notified of; `over` replaces fields. */
export async function insertStory(
  store: Store,
  site: SiteRow,
  openedAt: string,
  over: Partial<IncidentRow> & { title: string },
  alert: Partial<AlertRow> = {},
): Promise<IncidentRow> {
  const at = Date.parse(openedAt)
  const ends = typeof over.resolved_at !== 'number' ? {} : { state: 'resolved', resolved_at: over.resolved_at }
  const { id, incident_id } = await insertAlert(store, site, at, {
    title: over.title,
    // Of a site that nothing watches any more.
    probe_id: newId(),
    incident_id: newOrderedId(at),
    confirmed_at: at,
    first_notified_at: at,
    ...ends,
    ...alert,
  })
  const voice = { lead_alert_id: id, announced_alert_id: id, announced_at: at }
  return insertIncident(store, site, at, {
    id: incident_id ?? '',
    severity: 'warning',
    ...voice,
    ...ends,
    ...over,
  })
}
