import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { MaintenanceRecord } from '../../src/alerts/index.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import { MaintenanceAnnouncer } from '../../src/sharing/announced-maintenance.ts'
import { changesMail, type MaintenanceChange } from '../../src/sharing/subscription-mails.ts'
import { announcedMaintenance } from '../../src/store/migrations/0064-announced-maintenance.ts'
import { type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { equalGolden } from '../notifications/services/golden.ts'
import { start, subjectOf, textOf } from './support.ts'

type Test = Parameters<typeof start>[0]

/** A status page with a subscriber, and what planning does with it. */
async function startPlanned(t: Test, engine?: TestEngine) {
  const service = await start(t, engine)
  const { clock, api, mail, call, site, tick, confirmed } = service
  const secret = await confirmed('reader@example.com')
  const pass = async (ms: number) => {
    clock.advance(ms)
    await api.service.membership.beat()
    await tick()
    return mail.mails.splice(0).map(({ raw }) => subjectOf(raw))
  }
  /** Long enough that changes are gathered and settled, and that the next e-mail may come. */
  const settle = async () => [...(await pass(SECOND)), ...(await pass(MINUTE)), ...(await pass(11 * MINUTE))]
  const plan = (fields: object) =>
    call<MaintenanceRecord>('POST', '/api/maintenance', { site_id: site.id, kind: 'once', ...fields })
  const change = (id: string, fields: object) => call('PATCH', `/api/maintenance/${id}`, fields)
  const cancel = (id: string) => call('DELETE', `/api/maintenance/${id}`)
  return { ...service, secret, pass, settle, plan, change, cancel }
}

const TUESDAY = { starts_at: '2026-11-24T21:00:00Z', ends_at: '2026-11-24T22:30:00Z' }

testPerEngine(
  'subscribers get one e-mail when maintenance of the page is planned, when its times change and when it is cancelled',
  async (engine, t) => {
    const { mail, clock, tick, pass, settle, plan, change, cancel } = await startPlanned(t, engine)
    const { id } = await plan({ ...TUESDAY, title: 'Secret reason' })
    for (const minute of [10, 20]) {
      assert.deepEqual(await pass(30 * SECOND), [])
      await change(id, { starts_at: `2026-11-24T21:${minute}:00Z` })
    }
    assert.deepEqual(await pass(30 * SECOND), [], 'someone may still be editing')
    assert.deepEqual(await pass(MINUTE), [], 'it has only just been recorded')
    clock.advance(15 * SECOND)
    await tick()
    const [raw = '', ...others] = mail.mails.splice(0).map((one) => textOf(one.raw))
    assert.deepEqual(others, [])
    assert.equal(subjectOf(raw).includes('Secret'), false)
    assert.match(raw, /shop: maintenance planned, 24 Nov 22:20 =E2=80=93 23:30 CET/)
    assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    assert.match(raw, /^List-Unsubscribe:\s+<https:\/\/watch\.example\/status\/[\w-]+\/subscription\/[\w-]+>/m)
    assert.doesNotMatch(raw, /Secret reason/)

    await change(id, { title: 'Another reason' })
    assert.deepEqual(await settle(), [], 'the page does not show it')
    await change(id, { ends_at: '2026-11-24T23:30:00Z' })
    assert.deepEqual((await settle()).map(plain), ['Acme: shop: maintenance changed, 24 Nov 22:20 – 25 Nov 00:30 CET'])
    await change(id, { ends_at: '2026-11-24T23:00:00Z' })
    await pass(20 * SECOND)
    await change(id, { ends_at: '2026-11-24T23:30:00Z' })
    assert.deepEqual(await settle(), [], 'it is as they know it')
    await cancel(id)
    assert.deepEqual((await settle()).map(plain), [
      'Acme: shop: maintenance cancelled, 24 Nov 22:20 – 25 Nov 00:30 CET',
    ])
    assert.deepEqual(await settle(), [])
  },
)

testPerEngine(
  'maintenance is announced when the page begins to show it, and its end is no news, nor what was cancelled at once',
  async (engine, t) => {
    const { api, call, client, site, path, secret, pass, settle, plan, change, cancel } = await startPlanned(t, engine)
    const far = await plan({ starts_at: '2026-12-10T21:00:00Z', ends_at: '2026-12-10T22:00:00Z' })
    assert.deepEqual(await settle(), [])
    assert.deepEqual(await pass(7 * DAY), [])
    assert.equal((await settle()).length, 1)
    assert.deepEqual(await pass(13 * DAY + 11 * HOUR), [], 'it is under way')
    await cancel(far.id)
    assert.deepEqual(await settle(), [], 'it had begun')

    const past = await plan({ starts_at: '2026-12-14T08:00:00Z', ends_at: '2026-12-14T09:00:00Z' })
    await settle()
    await pass(3 * DAY + 12 * HOUR)
    await change(past.id, { ends_at: '2026-12-14T09:30:00Z' })
    await cancel(past.id)
    assert.deepEqual(await settle(), [], 'it was over')

    const soon = { starts_at: '2026-12-20T08:00:00Z', ends_at: '2026-12-20T09:00:00Z' }
    const brief = await plan(soon)
    await pass(30 * SECOND)
    await cancel(brief.id)
    assert.deepEqual(await settle(), [])

    const ofAll = await call<MaintenanceRecord>('POST', '/api/maintenance', {
      client_id: client.id,
      kind: 'once',
      ...soon,
    })
    assert.deepEqual((await settle()).map(plain), ['Acme: all sites: maintenance planned, 20 Dec 09:00 – 10:00 CET'])
    const paused = await plan(soon)
    await settle()
    await call('PATCH', `/api/sites/${site.id}`, { is_active: false })
    assert.deepEqual(await settle(), [], 'nothing was cancelled')
    await cancel(paused.id)
    assert.equal((await api.call('DELETE', `${path}/${secret}`)).status, 204)
    await cancel(ofAll.id)
    assert.deepEqual(await settle(), [], 'they have unsubscribed')
    await call('DELETE', `/api/sites/${site.id}`)
    await call('DELETE', `/api/clients/${client.id}`)
    assert.deepEqual(await api.service.store.read.selectFrom('announced_maintenance').selectAll().execute(), [])
  },
)

testPerEngine('of weekly maintenance the series is announced, and not each occurrence', async (engine, t) => {
  const { api, pass, settle, plan, change } = await startPlanned(t, engine)
  const weekly = { kind: 'weekly', weekdays: [2, 4], start: '22:30', duration_minutes: 90 }
  const { id } = await plan(weekly)
  const at = (start: string) => `every Tue, Thu at ${start} (Europe/Berlin)`
  assert.deepEqual((await settle()).map(plain), [
    `Acme: shop: maintenance planned, ${at('22:30')}, next 24 Nov 22:30 – 25 Nov 00:00 CET`,
  ])
  for (const _ of [1, 2, 3]) assert.deepEqual(await pass(5 * DAY), [])
  await change(id, { start: '23:00' })
  assert.deepEqual((await settle()).map(plain), [
    `Acme: shop: maintenance changed, ${at('23:00')}, next 8 Dec 23:00 – 9 Dec 00:30 CET`,
  ])
  await change(id, { is_active: false })
  assert.deepEqual((await settle()).map(plain), [`Acme: shop: maintenance cancelled, ${at('23:00')}`])
  await change(id, { is_active: true })
  assert.equal((await settle()).length, 1)
  await change(id, { is_active: false })
  await settle()
  await pass(3 * DAY)
  await api.service.worker?.loops.find(({ name }) => name === 'status-subscription-cleanup')?.tick()
  assert.deepEqual(await api.service.store.read.selectFrom('announced_maintenance').selectAll().execute(), [])
})

testPerEngine('what nodes see at once is announced once, and a node that was killed is replaced', async (engine, t) => {
  const { clock, api, mail, tick, plan, change, pass } = await startPlanned(t, engine)
  const { store } = api.service
  const { id } = await plan(TUESDAY)
  const nodes = [1, 2].map(() => new MaintenanceAnnouncer({ store, clock }))
  const announce = () => Promise.all(nodes.map((node) => node.announce()))
  const rows = () => store.read.selectFrom('announced_maintenance').selectAll().execute()
  await announce()
  clock.advance(MINUTE)
  await announce()
  const [row, ...others] = await rows()
  assert.deepEqual([row?.id, row?.changed_at, others], [id, clock.now(), []])
  await change(id, { ends_at: '2026-11-24T23:00:00Z' })
  await announce()
  clock.advance(30 * SECOND)
  // A new one knows nothing of what the other gathered.
  nodes.splice(0, 2, new MaintenanceAnnouncer({ store, clock }), new MaintenanceAnnouncer({ store, clock }))
  await announce()
  clock.advance(30 * SECOND)
  await announce()
  assert.deepEqual(await rows(), [row])
  clock.advance(30 * SECOND)
  await announce()
  assert.equal((await rows())[0]?.changed_at, clock.now())

  // Killed between the e-mail and its record: the next one sends it again as the same message.
  const [before] = await store.read.selectFrom('status_subscribers').selectAll().execute()
  clock.advance(15 * SECOND)
  await tick()
  assert.ok(before !== undefined)
  await store.write.updateTable('status_subscribers').set(before).where('id', '=', before.id).execute()
  await tick()
  const ids = mail.mails.splice(0).map(({ raw }) => /^Message-ID:\s+(<.*>)\r$/im.exec(raw)?.[1])
  assert.equal(ids.length, 2)
  assert.deepEqual([new Set(ids).size, ids.includes(undefined)], [1, false])
  assert.deepEqual(await pass(11 * MINUTE), [])
})

test('changes that do not cease are announced after five minutes, in one e-mail with incidents', async (t) => {
  const { clock, pass, plan, change, breakDown } = await startPlanned(t)
  const { id } = await plan(TUESDAY)
  for (let minute = 0; minute < 10; minute++) {
    assert.deepEqual(await pass(30 * SECOND), [])
    await change(id, { starts_at: `2026-11-24T21:0${minute}:00Z` })
  }
  assert.deepEqual(await pass(30 * SECOND), [])
  await breakDown('Checkout is down', clock.now())
  assert.deepEqual(await pass(15 * SECOND), ['Acme: 2 status changes'])
})

testPerEngine('maintenance from before the upgrade counts as announced', async (engine, t) => {
  const { api, call, client, settle, plan, change } = await startPlanned(t, engine)
  const { store } = api.service
  const planned = await plan(TUESDAY)
  await plan({ kind: 'weekly', weekdays: [1], start: '10:00', duration_minutes: 5 })
  await call('POST', '/api/maintenance', { client_id: client.id, kind: 'once', ...TUESDAY })
  const [, copy = ''] = announcedMaintenance.statements({
    integer: 'bigint',
    counter: '',
    json: '',
    identity: '',
    clustered: '',
    ephemeral: '',
    uncompressed: () => [],
  })
  await sql.raw(copy).execute(store.write)
  assert.deepEqual(await settle(), [])
  await change(planned.id, { ends_at: '2026-11-24T22:00:00Z' })
  assert.deepEqual((await settle()).map(plain), ['Acme: shop: maintenance changed, 24 Nov 22:00 – 23:00 CET'])
})

test('the e-mail about maintenance reads as it was found good', () => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  const once = { startsAt: Date.parse(TUESDAY.starts_at), endsAt: Date.parse(TUESDAY.ends_at) }
  const next = { startsAt: now + DAY, endsAt: now + DAY + 90 * MINUTE }
  const ofShop = { at: now, site: 'shop', timezone: 'Europe/Berlin' }
  const weekly = {
    kind: 'weekly' as const,
    weekdays: [6],
    start: '11:00',
    durationMinutes: 90,
    timezone: 'Europe/Berlin',
  }
  const changes: MaintenanceChange[] = [
    { ...ofShop, kind: 'planned', schedule: { kind: 'once', ...once }, window: once },
    { ...ofShop, site: 'all sites', kind: 'changed', schedule: weekly, window: next },
    { ...ofShop, kind: 'cancelled', schedule: weekly, window: next },
  ]
  const links = { page: 'https://watch.example/status/TOKEN', subscription: 'https://watch.example/unsubscribe' }
  const { subject, text, html } = changesMail('Acme', changes, links, now)
  equalGolden(import.meta.dirname, 'maintenance.txt', `Subject: ${subject}\n\n${text}`)
  equalGolden(import.meta.dirname, 'maintenance.html.txt', html)
})

/** A subject without the encoding of its dash. */
const plain = (subject: string): string =>
  subject.replaceAll(/=\?UTF-8\?Q\?(.*?)\?=\s?/gi, (_, text: string) =>
    decodeURIComponent(text.replaceAll('_', ' ').replaceAll(/=([\dA-F]{2})/g, '%$1')),
  )
