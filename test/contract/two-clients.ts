import { newOrderedId } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { type ApiClient, apiClient, bearer } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import type { TestService } from '../../testkit/service.ts'

/** Everything that a client can have, by the names of the ids in paths, queries and bodies. */
export interface FullClient {
  ids: Readonly<Record<string, string>>
  /** What no one may read who does not see the client: its ids, names and the texts that people wrote about it. */
  marks: readonly string[]
}

/** Makes a client with one of everything, all of whose names hold `mark`. */
export async function fullClient(api: TestService, admin: ApiClient, mark: string, now: number): Promise<FullClient> {
  const { store } = api.service
  // Guarded: no one is reached.
  const chat_webhook = `http://127.0.0.1:9/${mark}`
  const client = await admin.newClient({ name: `${mark} Ltd`, email: `ops@${mark}.example`, chat_webhook })
  const site = await admin.newSite(client, { name: `${mark} shop`, url: `https://${mark}.example` })
  const post = <T = { id: string }>(path: string, body: object): Promise<T> => admin.ask<T>('POST', path, body)
  const probe = await post('/api/probes', { site_id: site.id, probe_type: 'push', name: `${mark} backup` })
  const annotation = await post('/api/annotations', { site_id: site.id, text: `${mark} released` })
  const special = await post(`/api/sites/${site.id}/special-days`, { first_day: '2026-11-27', note: `${mark} sale` })
  const channel = await post(`/api/clients/${client.id}/channels`, {
    kind: 'email',
    name: `${mark} on call`,
    address: `oncall@${mark}.example`,
  })
  const ends_at = new Date(now + 3_600_000).toISOString()
  const silence = await post('/api/silences', { site_id: site.id, ends_at, comment: `${mark} works on it` })
  const maintenance = await post('/api/maintenance', {
    site_id: site.id,
    kind: 'once',
    title: `${mark} moves`,
    starts_at: new Date(now).toISOString(),
    ends_at,
  })
  await post(`/api/clients/${client.id}/status-link`, {})
  await post(`/api/sites/${site.id}/reference-counts`, {
    counts: [{ source: mark.toLowerCase(), event: 'purchase', hour: '2026-11-20T08:00:00Z', count: 3 }],
  })
  await post(`/api/sites/${site.id}/tag-vendors/GA4`, { vendor: 'meta' })
  await post('/api/views', { name: `${mark} at a glance`, path: `/incidents?client=${client.id}` })
  const incident = await insertIncident(store, site, now - 60_000, { title: `${mark} is down` })
  const alert = await insertAlert(store, site, now - 60_000, {
    probe_id: probe.id,
    incident_id: incident.id,
    title: `${mark} is down`,
    subject_label: mark,
  })
  const delivery = await insertDelivery(store, client.id, alert.id, mark, now)
  const subscriber = await insertSubscriber(store, client.id, mark, now)
  const optOut = await insertOptOut(store, client.id, mark, now)
  const names = {
    event_name: `${mark}_purchase`,
    tags: [{ id: '12', name: `${mark} GA4`, status: 'success' as const }],
  }
  const sent = await admin.ingest(site, eventPayload({ timestamp_ms: now - 120_000, ...names }))
  if (sent.status !== 200) throw new Error(`the event was refused: ${sent.text}`)
  const ids = {
    client_id: client.id,
    site_id: site.id,
    probe_id: probe.id,
    alert_id: alert.id,
    incident_id: incident.id,
    silence_id: silence.id,
    maintenance_id: maintenance.id,
    annotation_id: annotation.id,
    special_days_id: special.id,
    channel_id: channel.id,
    delivery_id: delivery,
    subscriber_id: subscriber,
    digest_opt_out_id: optOut,
  }
  return { ids, marks: [mark, mark.toLowerCase(), ...Object.values(ids)] }
}

async function insertDelivery(store: Store, clientId: string, alertId: string, mark: string, now: number) {
  const row = {
    id: newOrderedId(now),
    channel: `email:${clientId}`,
    client_id: clientId,
    alert_id: alertId,
    kind: 'test',
    message: JSON.stringify({ kind: 'test', client: { id: clientId, name: mark }, asked_by: mark }),
    state: 'failed',
    created_at: now,
    not_before: now,
    group_id: null,
    attempts: 1,
    last_attempt_at: now,
    last_error: `${mark} refused it`,
    delivered_at: null,
  }
  await store.write.insertInto('deliveries').values(row).execute()
  return row.id
}

async function insertSubscriber(store: Store, clientId: string, mark: string, now: number): Promise<string> {
  const link = await store.read
    .selectFrom('status_links')
    .select('token')
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow()
  const row = {
    id: newOrderedId(now),
    client_id: clientId,
    token: link.token,
    email: `reader@${mark.toLowerCase()}.example`,
    secret: `secret of ${mark}`,
    created_at: now,
    asked_at: now,
    confirmed_at: now,
    notified_until: now,
    next_mail_at: now + 3_600_000,
    failures: 0,
  }
  await store.write.insertInto('status_subscribers').values(row).execute()
  return row.id
}

async function insertOptOut(store: Store, clientId: string, mark: string, now: number): Promise<string> {
  const row = {
    id: newOrderedId(now),
    client_id: clientId,
    email: `boss@${mark.toLowerCase()}.example`,
    secret: `digests of ${mark}`,
    created_at: now,
    opted_out_at: now,
  }
  await store.write.insertInto('digest_readers').values(row).execute()
  return row.id
}

/** Someone who calls the service with an API token. */
export interface TokenCaller extends ApiClient {
  name: string
  token: string
  role: 'viewer' | 'editor' | 'owner'
  /** Whether they see one client or all. */
  sees: 'one' | 'all'
}

/** Every role, for the one client and for all. */
export async function callersOf(admin: ApiClient, clientId: string): Promise<TokenCaller[]> {
  const callers: TokenCaller[] = []
  for (const sees of ['one', 'all'] as const) {
    for (const role of ['viewer', 'editor', 'owner'] as const) {
      const name = `${role} of ${sees}`
      const client_ids = sees === 'one' ? [clientId] : null
      const { token } = await admin.ask<{ token: string }>('POST', '/api/tokens', { name, role, client_ids })
      callers.push({ ...apiClient(admin.url, bearer(token)), name, token, role, sees })
    }
  }
  return callers
}
