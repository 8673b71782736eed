import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { isoTime, MINUTE, SECOND } from '../../../src/lib/index.ts'
import { type Answer, apiClient, bearer, type SiteKey } from '../../../testkit/api.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { placeFor, type TestEngine } from '../../../testkit/engines.ts'
import { startAnswering } from '../../../testkit/listeners.ts'
import { batch } from '../../../testkit/payloads.ts'
import type { Random } from '../../../testkit/random.ts'
import { startTestService } from '../../../testkit/service.ts'
import { ADMIN } from '../../management/support.ts'
import { type Mail, mailServer } from '../../notifications/email/smtp-server.ts'

/** What the story itself knows of a site: what it was made as, and what it sent. */
export interface KnownSite extends SiteKey {
  name: string
  isActive: boolean
  lastEventAt: number | null
  /** When it sent how many events. */
  sent: { at: number; events: number }[]
}

/** And of a probe that says what the story has it say. */
export interface KnownPush {
  id: string
  siteId: string
  token: string
  isActive: boolean
}

export interface KnownClient {
  id: string
  name: string
  isActive: boolean
}

/** When it is in Berlin and New York, and later than any day's digest. */
const BEGINS = '2026-11-20T09:58:30.000Z'
const EVENTS = 30
const SUBSCRIBER = 'reader@example.com'

export type Story = Awaited<ReturnType<typeof beginStory>>

/** A service of two clients with two sites each, on which nothing happens but what the story does. */
export async function beginStory(t: TestContext, engine: TestEngine, random: Random) {
  const clock = new TestClock(BEGINS)
  const mail = await mailServer(t)
  const server = { status: 200 }
  const tagServer = await startAnswering(t, (_request, response) => {
    response.writeHead(server.status, { 'content-type': 'text/plain' }).end('ok')
  })
  const { service, url } = await startTestService(t, clock, {
    ADMIN_TOKEN: ADMIN,
    PUBLIC_URL: 'https://watch.example',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    NOTIFY_WARNINGS_AFTER_MINUTES: '0',
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    SMTP_FROM: 'alerts@example.com',
    ...(await placeFor(engine, t)),
  })
  const { worker, ingest, membership } = service
  assert.ok(worker !== null)
  const loops = [...membership.loops, ...ingest.loops, ...worker.loops]
  // From here on all of it happens when the story says so: what is compared must not change meanwhile.
  for (const loop of loops) await loop.stop()
  const admin = apiClient(url, bearer(ADMIN))
  const log: string[] = []
  const note = (text: string) => log.push(`${isoTime(clock.now()).slice(5, 16)} ${text}`)

  const clients: KnownClient[] = []
  const sites: KnownSite[] = []
  const pushes: KnownPush[] = []
  const addPush = async (siteId: string, name: string) => {
    const config = { period_minutes: 60 * 24 * 7 }
    // What is made, or found, in one moment stands in no order that a story could count on.
    clock.advance(SECOND)
    const probe = { site_id: siteId, probe_type: 'push', name, interval_seconds: 3_600, config }
    const { id } = await admin.ask<{ id: string }>('POST', '/api/probes', probe)
    const { token } = await admin.ask<{ token: string }>('GET', `/api/probes/${id}/push`)
    pushes.push({ id, siteId, token, isActive: true })
  }
  const addSite = async (client: KnownClient, name: string, timezone: string) => {
    clock.advance(SECOND)
    const site = await admin.newSite(client, { name, timezone, tag_server_url: tagServer })
    sites.push({ ...site, name, isActive: true, lastEventAt: null, sent: [] })
    for (const probe_type of ['http_health', 'tag_failure_rate'])
      await admin.ask('POST', '/api/probes', { site_id: site.id, probe_type, interval_seconds: 600 })
    await addPush(site.id, `backup of ${name}`)
    await addPush(site.id, `feed of ${name}`)
  }
  for (const [name, timezone] of [
    ['Acme', 'Europe/Berlin'],
    ['Bolt', 'America/New_York'],
  ] as const) {
    clock.advance(SECOND)
    const { id } = await admin.ask<{ id: string }>('POST', '/api/clients', {
      name,
      email: `ops@${name.toLowerCase()}.example`,
      digest: 'daily',
      plan: 'enterprise',
    })
    const client = { id, name, isActive: true }
    clients.push(client)
    for (const n of [1, 2]) await addSite(client, `${name} ${n}`, timezone)
  }
  const [acme] = clients
  assert.ok(acme !== undefined)
  const { token: narrow } = await admin.ask<{ token: string }>('POST', '/api/tokens', {
    ...{ name: 'Acme only', role: 'viewer', client_ids: [acme.id] },
  })
  const { token: page } = await admin.ask<{ token: string }>('POST', `/api/clients/${acme.id}/status-link`)

  const tick = async (...names: string[]) => {
    for (const loop of loops) if (names.includes(loop.name)) await loop.tick()
  }
  const { scheduler } = worker.probes
  /** Everything that a service does by itself until nothing of it is left to do. */
  const settle = async () => {
    await membership.beat()
    await ingest.flush()
    await scheduler.claim()
    while (scheduler.active > 0) {
      await scheduler.write()
      await setImmediate()
    }
    await tick('alerts', 'impact', 'on-call', 'site-days', 'digests')
    await worker.notifications.run()
    // What was committed a moment ago is e-mailed a moment later.
    clock.advance(20 * SECOND)
    await tick('status-subscriptions')
  }
  const mails: Mail[] = mail.mails
  await admin.ask('POST', `/api/status/${page}/subscribers`, { email: SUBSCRIBER })
  await tick('status-subscriptions')
  const secret = /\/subscription\/([\w-]{43})/.exec(textOf(mails[0]))?.[1] ?? ''
  await admin.ask('POST', `/api/status/${page}/subscribers/${secret}/confirm`)
  mails.length = 0
  // What begins in the millisecond of the confirmation is not e-mailed.
  clock.advance(SECOND)

  const push = async ({ id, token }: KnownPush, status: string): Promise<Answer> => {
    clock.advance(SECOND)
    const answer = await admin.call('POST', `/push/${token}?status=${status}`)
    await admin.call('POST', `/api/probes/${id}/run`)
    return answer
  }
  /** A site sends, and of its tag so many fail. */
  const send = async (site: KnownSite, failures: number) => {
    const at = clock.now()
    const tag = { success: EVENTS - failures, failure: failures, timeout: 0, exception: 0 }
    const payload = batch(at, {
      total_events: EVENTS,
      event_counts: { purchase: EVENTS },
      tag_metrics: { 'Meta CAPI': { ...tag, total_exec_ms: 900, count: EVENTS } },
    })
    if ((await admin.ingest(site, payload)).status !== 200) return
    site.sent.push({ at, events: EVENTS })
    site.lastEventAt = at
  }
  return {
    ...{ t, clock, random, url, admin, log, note, clients, sites, pushes, acme, page, mails, server },
    ...{ loops, settle, push, send, addPush, store: service.store },
    narrow: apiClient(url, bearer(narrow)),
    reachable: { acme: true },
    /** Sites of which Meta refuses what is sent. */
    refused: new Set<string>(),
  }
}

/** Its plain text, without the soft ends of quoted-printable lines. */
export const textOf = (mail: Mail | undefined): string =>
  (/^Content-Type: text\/plain[\s\S]*?\r\n--/m.exec(mail?.raw ?? '')?.[0] ?? '')
    .replaceAll('=\r\n', '')
    .replaceAll(/((?:=[0-9A-F]{2})+)/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())

export const isFrom = (mail: Mail, part: string) => mail.to.some((address) => address.includes(part))
/** Longer than anything that is asked may be kept for. */
export const STEP = 17 * MINUTE
