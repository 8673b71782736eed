import { isoTime, newId } from '../../src/lib/index.ts'

/** Stands for any thing. */
export const ID = newId()

/** A body that each call would take, so that nothing but the parameter is wrong. A call that needs one and is not here fails. */
export const BODIES: Readonly<Record<string, object>> = {
  'POST /api/clients': { name: 'Acme' },
  'PATCH /api/clients/{client_id}': { name: 'Acme' },
  'PATCH /api/clients/{client_id}/status-page': { accent: null },
  'POST /api/sites': { client_id: ID, name: 'shop', url: 'https://shop.example' },
  'PATCH /api/sites/{site_id}': { name: 'shop' },
  'POST /api/clients/{client_id}/channels': { kind: 'email', name: 'On call', address: 'ops@acme.example' },
  'PATCH /api/clients/{client_id}/channels/{channel_id}': { name: 'On call' },
  'POST /api/clients/{client_id}/on-call': {
    people: [{ name: 'Ada' }],
    timezone: 'UTC',
    handover_weekday: 1,
    handover_time: '09:00',
    starts_on: '2026-11-16',
  },
  'POST /api/clients/{client_id}/on-call/overrides': {
    person_id: ID,
    starts_at: isoTime(Date.now()),
    ends_at: isoTime(Date.now() + 3_600_000),
  },
  'POST /api/probes': { site_id: ID, probe_type: 'http_health' },
  'PATCH /api/probes/{probe_id}': { name: 'health' },
  'POST /api/silences': { site_id: ID, ends_at: isoTime(Date.now() + 3_600_000) },
  'POST /api/maintenance': {
    site_id: ID,
    kind: 'weekly',
    weekdays: [1],
    start: '03:00',
    duration_minutes: 60,
  },
  'PATCH /api/maintenance/{maintenance_id}': { title: 'Upgrade' },
  'POST /api/alerts/{alert_id}/feedback': { verdict: 'real' },
  'POST /api/incidents/{incident_id}/notes': { text: 'It was the vendor' },
  'POST /api/annotations': { site_id: ID, text: 'Release 12' },
  'POST /api/sites/{site_id}/keys': { name: 'web container' },
  'PATCH /api/sites/{site_id}/keys/{key_id}': { name: 'web container' },
  'POST /api/sites/{site_id}/reference-counts': {
    counts: [{ source: 'shop', event: 'purchase', hour: '2026-11-20T14:00:00Z', count: 3 }],
  },
  'POST /api/sites/{site_id}/special-days': { first_day: '2026-11-27' },
  'POST /api/sites/{site_id}/tag-vendors/{tag_key}': { vendor: 'meta' },
  'POST /api/status/{token}/subscribers': { email: 'reader@example.com' },
  'POST /api/views': { name: 'Broken', path: '/overview?filter=broken' },
  'POST /api/session': { token: 'admin-token-0123456789' },
  'POST /api/users': { email: 'ada@agency.example', roles: [{ client_id: ID, role: 'viewer' }] },
  'PATCH /api/users/{user_id}': { roles: [{ client_id: ID, role: 'editor' }] },
  'POST /api/tokens': { name: 'deploy', role: 'editor', client_ids: [ID] },
  'PATCH /api/account': { name: 'Ada' },
  'POST /api/account/two-step': { password: 'a password of some length' },
  'POST /api/account/two-step/confirm': { code: '123456' },
  'POST /api/account/two-step/off': { code: '123456' },
  'POST /api/account/two-step/recovery-codes': { code: '123456' },
  'POST /api/password-links': { email: 'ada@agency.example' },
  'POST /api/password-links/read': { secret: 'x'.repeat(43) },
  'POST /api/password-links/use': { secret: 'x'.repeat(43), password: 'a password of some length' },
}
