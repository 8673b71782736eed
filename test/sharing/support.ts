import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { DAY, newOrderedId } from '../../src/lib/index.ts'
import type { ClientRecord, SiteRecord, StatusLinkRecord } from '../../src/management/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { TestClock } from '../../testkit/clock.ts'
import { sqlite, type TestEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { newProbeRow } from '../../testkit/probes.ts'
import { serviceWithMail } from '../notifications/email/service-with-mail.ts'
import type { mailServer } from '../notifications/email/smtp-server.ts'

/** A service with e-mail, and a client with a site whose status page is shared. */
export async function start(
  t: TestContext,
  engine: TestEngine = sqlite,
  options: Parameters<typeof mailServer>[1] = {},
  settings: Record<string, string> = {},
) {
  const clock = new TestClock('2026-11-20T10:00:30.000Z')
  // On a slow machine upkeep would end silences that are none, and a look begin before what it is to see.
  const { mail, api, loops, call } = await serviceWithMail(t, engine, clock, options, settings)
  const { store } = api.service
  const client = await call<ClientRecord>('POST', '/api/clients', { name: 'Acme', email: 'ops@acme.example' })
  const site = await call<SiteRecord>('POST', '/api/sites', {
    client_id: client.id,
    name: 'shop',
    url: 'https://shop.example',
    timezone: 'Europe/Berlin',
  })
  const { token } = await call<StatusLinkRecord>('POST', `/api/clients/${client.id}/status-link`)
  const path = `/api/status/${token}/subscribers`
  const tick = async () => {
    const loop = loops.find(({ name }) => name === 'status-subscriptions')
    assert.ok(loop !== undefined)
    await loop.tick()
  }
  const subscribe = (email: string, at = path) => api.call('POST', at, { email })
  /** The secret in the last e-mail. */
  const secretOf = (raw = textOf(mail.mails.at(-1)?.raw)) => /\/subscription\/([\w-]{43})/.exec(raw)?.[1] ?? ''
  const confirmed = async (email: string) => {
    assert.equal((await subscribe(email)).status, 202)
    await tick()
    const secret = secretOf()
    assert.equal((await api.call('POST', `${path}/${secret}/confirm`)).status, 204)
    mail.mails.length = 0
    return secret
  }
  /** Of those that nothing runs: upkeep, which comes round on a slow machine, would resolve alerts without a probe. */
  const newProbes = async (count: number) => {
    const probes = Array.from({ length: count }, () => newProbeRow(site.id, { next_run_at: clock.now() + 365 * DAY }))
    await store.write.insertInto('probes').values(probes).execute()
    return probes.map(({ id }) => id)
  }
  /** An incident that everyone sees. */
  const breakDown = async (title: string, at = clock.now(), suppressed_by: string | null = null) => {
    const incident = await insertIncident(store, site, at, { title })
    await insertAlert(store, site, at, { incident_id: incident.id, title, confirmed_at: at, suppressed_by })
    return incident
  }
  const change = async (id: string, kind: 'resolved' | 'reopened') => {
    const end = kind === 'resolved' ? clock.now() : null
    const state = kind === 'resolved' ? 'resolved' : 'open'
    await store.write.updateTable('incidents').set({ state, resolved_at: end }).where('id', '=', id).execute()
    const event = { id: newOrderedId(clock.now()), at: clock.now(), kind, actor: null, text: '' }
    await store.write
      .insertInto('incident_events')
      .values({ ...event, incident_id: id })
      .execute()
  }
  const recover = (id: string) => change(id, 'resolved')
  const rows = () => store.read.selectFrom('status_subscribers').selectAll().execute()
  return {
    clock,
    api,
    mail,
    call,
    client,
    site,
    path,
    tick,
    subscribe,
    secretOf,
    confirmed,
    newProbes,
    breakDown,
    recover,
    comeBack: (id: string) => change(id, 'reopened'),
    rows,
  }
}

/** Without the soft ends of quoted-printable lines. */
export const textOf = (raw = ''): string => raw.replaceAll('=\r\n', '')
export const subjectOf = (raw: string): string =>
  /^Subject: (.*(?:\r\n .*)*)/m.exec(raw)?.[1]?.replaceAll(/\r\n /g, ' ') ?? ''
