import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { DAY, HOUR, isoTime, MINUTE, newId, newOrderedId, SECOND } from '../../src/lib/index.ts'
import type { ClientRecord, StatusLinkRecord } from '../../src/management/index.ts'
import { composeNotice } from '../../src/notifications/index.ts'
import {
  type Announced,
  announcementsOf,
  incidentsSince,
  type Shown,
  type Turn,
} from '../../src/sharing/announced-incidents.ts'
import type { StatusPage, SubscriberRecord, Subscription } from '../../src/sharing/index.ts'
import { changesMail, type StatusChange } from '../../src/sharing/subscription-mails.ts'
import { announcedIncidents as announcedIncidentsMigration } from '../../src/store/migrations/0068-announced-incidents.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { sqlite, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { ADMIN, VIEWER } from '../management/support.ts'
import { smtpError } from '../notifications/email/smtp-server.ts'
import { start, subjectOf, textOf } from './support.ts'

testPerEngine('the page and its feed say since when an incident that had ended is open again', async (engine, t) => {
  const { clock, api, path, breakDown, recover, comeBack } = await start(t, engine)
  const page = path.replace('/subscribers', '')
  const backAt = async () => {
    // The page is worked out again after a few seconds.
    clock.advance(10 * SECOND)
    const { incidents } = (await api.call('GET', page)).json<StatusPage>()
    const feed = await api.call('GET', `${page}/feed.atom`)
    return [incidents.map(({ back_at }) => back_at), /since ([^<]*)<\/summary>/.exec(feed.text)?.[1]]
  }
  const { id } = await breakDown('Checkout is down')
  assert.deepEqual(await backAt(), [[null], 'Fri 20 Nov 2026, 11:00 CET'])
  await recover(id)
  assert.deepEqual(await backAt(), [[null], undefined])
  clock.advance(11 * MINUTE)
  const again = isoTime(clock.now())
  await comeBack(id)
  assert.deepEqual(await backAt(), [[again], 'Fri 20 Nov 2026, 11:00 CET, open again since 11:11 CET'])
  await recover(id)
  assert.deepEqual(await backAt(), [[null], undefined])
})

testPerEngine(
  'who subscribes and confirms gets an e-mail when an incident begins, when it is back and when it ends',
  async (engine, t) => {
    const { clock, api, mail, site, path, tick, subscribe, secretOf, newProbes, breakDown, recover, comeBack, rows } =
      await start(t, engine)
    const { store } = api.service
    assert.equal((await subscribe('Reader@Example.com')).status, 202)
    await tick()
    assert.deepEqual(
      mail.mails.map(({ to, raw }) => [to, subjectOf(raw)]),
      [[['reader@example.com'], 'Confirm e-mail about the status of Acme']],
    )
    const secret = secretOf()
    const read = async () => (await api.call('GET', `${path}/${secret}`)).json<Subscription>()
    assert.deepEqual(await read(), { name: 'Acme', email: 'reader@example.com', is_confirmed: false })
    // Until then there is nothing else, and asking again within the hour makes no second e-mail.
    const first = await breakDown('Checkout is down')
    clock.advance(20 * MINUTE)
    await subscribe('reader@example.com')
    await tick()
    assert.equal(mail.mails.length, 1)

    for (const _ of [1, 2]) assert.equal((await api.call('POST', `${path}/${secret}/confirm`)).status, 204)
    assert.equal((await read()).is_confirmed, true)
    await tick()
    assert.equal(mail.mails.length, 1, 'what began before is on the page')
    clock.advance(MINUTE)
    await recover(first.id)
    await tick()
    await tick()
    const ended = mail.mails[1]
    assert.equal(mail.mails.length, 2)
    assert.equal(subjectOf(ended?.raw ?? ''), 'Acme: resolved, shop: Checkout is down')
    assert.match(textOf(ended?.raw), /Resolved at 11:21 CET: shop: Checkout is down/)
    assert.match(
      textOf(ended?.raw),
      new RegExp(`List-Unsubscribe:\\s+<https://watch.example/status/[\\w-]+/subscription/${secret}>`),
    )

    // What comes within ten minutes of an e-mail comes together. Of what planned work brings there is none, as there is no other message.
    await recover((await breakDown('Planned', clock.now(), 'maintenance:1')).id)
    const silenced = await breakDown('Silenced', clock.now(), 'silence:1')
    const [second] = [await breakDown('Purchases are missing'), await breakDown('Meta fails')]
    clock.advance(MINUTE)
    await tick()
    clock.advance(4 * MINUTE)
    await recover(second.id)
    await tick()
    assert.equal(mail.mails.length, 2)
    clock.advance(6 * MINUTE)
    await tick()
    assert.equal(mail.mails.length, 3)
    assert.equal(subjectOf(mail.mails[2]?.raw ?? ''), 'Acme: 3 status changes')

    // What is bad still when the silence ends is news then, however long it is bad by then.
    clock.advance(11 * MINUTE)
    const announced = { suppressed_by: null, announced_at: clock.now() }
    await store.write.updateTable('alerts').set(announced).where('incident_id', '=', silenced.id).execute()
    clock.advance(30 * SECOND)
    await tick()
    assert.equal(subjectOf(mail.mails[3]?.raw ?? ''), 'Acme: shop: Silenced')

    // Of many at once none is forgotten.
    const one = await breakDown('Everything is down')
    const [probe_id = '', ...probes] = await newProbes(101)
    const alert = await insertAlert(store, site, clock.now(), {
      probe_id,
      incident_id: one.id,
      confirmed_at: clock.now(),
    })
    const others = probes.map(() => newOrderedId(clock.now()))
    await store.write
      .insertInto('incidents')
      .values(others.map((id) => ({ ...one, id })))
      .execute()
    const alerts = others.map((incident_id, n) => ({ ...alert, id: newId(), probe_id: probes[n] ?? '', incident_id }))
    await store.write.insertInto('alerts').values(alerts).execute()
    clock.advance(11 * MINUTE)
    await tick()
    assert.equal(subjectOf(mail.mails[4]?.raw ?? ''), 'Acme: 101 status changes')

    // What another one explains at once is on the page of that one; what was e-mailed before that ends by e-mail, too.
    clock.advance(11 * MINUTE)
    const [whole, part, former] = [await breakDown('The server'), await breakDown('A tag'), await breakDown('A field')]
    const belongs = async ({ id }: { id: string }) => {
      await store.write.updateTable('incidents').set({ parent_id: whole.id }).where('id', '=', id).execute()
      const event = { id: newOrderedId(clock.now()), at: clock.now(), kind: 'belongs', actor: null, text: '' }
      await store.write
        .insertInto('incident_events')
        .values({ ...event, incident_id: id })
        .execute()
    }
    await belongs(part)
    clock.advance(30 * SECOND)
    await tick()
    assert.equal(subjectOf(mail.mails[5]?.raw ?? ''), 'Acme: 2 status changes')
    await belongs(former)
    for (const { id } of [part, former]) await recover(id)
    clock.advance(11 * MINUTE)
    await tick()
    assert.equal(subjectOf(mail.mails[6]?.raw ?? ''), 'Acme: resolved, shop: A field')

    // What had ended and is back is news, and what is found to belong to it after its end is none.
    await comeBack(second.id)
    clock.advance(11 * MINUTE)
    await tick()
    assert.match(textOf(mail.mails[7]?.raw), /Open again since \d\d:\d\d CET: shop: Purchases are missing/)
    await recover(second.id)
    clock.advance(MINUTE)
    const event = { id: newOrderedId(clock.now()), at: clock.now(), kind: 'joined', actor: null, text: '' }
    await store.write
      .insertInto('incident_events')
      .values({ ...event, incident_id: second.id })
      .execute()
    clock.advance(11 * MINUTE)
    await tick()
    assert.equal(subjectOf(mail.mails[8]?.raw ?? ''), 'Acme: resolved, shop: Purchases are missing')

    assert.equal((await api.call('DELETE', `${path}/${secret}`)).status, 204)
    assert.deepEqual(await rows(), [])
    assert.equal((await api.call('GET', `${path}/${secret}`)).status, 404)
  },
)

testPerEngine(
  'who was e-mailed of an incident gets its end, also where it ends as its site is paused',
  async (engine, t) => {
    const { clock, mail, call, site, tick, confirmed, breakDown, recover } = await start(t, engine)
    await confirmed('reader@example.com')
    clock.advance(MINUTE)
    const incident = await breakDown('Checkout is down')
    clock.advance(MINUTE)
    await tick()
    await call('PATCH', `/api/sites/${site.id}`, { is_active: false })
    await recover(incident.id)
    clock.advance(11 * MINUTE)
    await tick()
    assert.deepEqual(
      mail.mails.map(({ raw }) => subjectOf(raw)),
      ['Acme: shop: Checkout is down', 'Acme: resolved, shop: Checkout is down'],
    )
  },
)

testPerEngine(
  'what began in a silence is e-mailed when someone is notified of it, also with an alert for which another one speaks',
  async (engine, t) => {
    const { clock, api, mail, site, tick, confirmed, breakDown } = await start(t, engine)
    const { store } = api.service
    await confirmed('reader@example.com')
    clock.advance(MINUTE)
    const silenced = await breakDown('Silenced', clock.now(), 'silence:1')
    const own = { incident_id: silenced.id, confirmed_at: clock.now(), suppressed_by: 'silence:1' }
    const other = await insertAlert(store, site, clock.now(), own)
    clock.advance(MINUTE)
    await breakDown('Something else')
    clock.advance(MINUTE)
    await tick()
    clock.advance(HOUR)
    const set = (values: object, id: string, sign: '=' | '<>') =>
      store.write
        .updateTable('alerts')
        .set(values)
        .where('incident_id', '=', silenced.id)
        .where('id', sign, id)
        .execute()
    await set({ suppressed_by: null, announced_at: clock.now() }, other.id, '<>')
    await set({ suppressed_by: `incident:${silenced.id}` }, other.id, '=')
    clock.advance(MINUTE)
    await tick()
    assert.deepEqual(
      mail.mails.map(({ raw }) => subjectOf(raw)),
      ['Acme: shop: Something else', 'Acme: shop: Silenced'],
    )
  },
)

testPerEngine(
  'who reads every e-mail knows of each end and each return, whatever was found late, and of a beginning once',
  async (engine, t) => {
    const { clock, api, mail, tick, confirmed, breakDown, recover, comeBack } = await start(t, engine)
    const { store } = api.service
    await confirmed('reader@example.com')
    const pass = async () => {
      clock.advance(11 * MINUTE)
      await tick()
      return mail.mails.splice(0).map(({ raw }) => subjectOf(raw))
    }
    const line = (text: string) => ({ id: newOrderedId(clock.now()), at: clock.now(), actor: null, text })
    const hasNoChannel = async (id: string) => {
      const alerts = store.write.selectFrom('alerts').select('id').where('incident_id', '=', id)
      const { id: alert_id } = await alerts.executeTakeFirstOrThrow()
      await store.write
        .insertInto('alert_events')
        .values({ ...line('No one to notify'), alert_id, kind: 'unreachable' })
        .execute()
    }
    clock.advance(MINUTE)
    const incident = await breakDown('It is down', clock.now(), 'no_channel')
    await hasNoChannel(incident.id)
    assert.deepEqual(await pass(), ['Acme: shop: It is down'])
    const told = { suppressed_by: null, announced_at: clock.now() }
    await store.write.updateTable('alerts').set(told).where('incident_id', '=', incident.id).execute()
    assert.deepEqual(await pass(), [], 'someone can be notified of it now')

    await recover(incident.id)
    const late = { ...line('“Meta” failed while “It is down”'), incident_id: incident.id, kind: 'joined' }
    await store.write.insertInto('incident_events').values(late).execute()
    assert.deepEqual(await pass(), ['Acme: resolved, shop: It is down'])
    await comeBack(incident.id)
    assert.deepEqual(await pass(), ['Acme: shop: It is down'])

    // What kept it open turned out to be something else: its end lies before the last e-mail.
    const other = await breakDown('Something else')
    assert.deepEqual(await pass(), ['Acme: shop: Something else'])
    await recover(incident.id)
    const before = { resolved_at: other.opened_at - MINUTE }
    await store.write.updateTable('incidents').set(before).where('id', '=', incident.id).execute()
    assert.deepEqual(await pass(), ['Acme: resolved, shop: It is down'])

    const announced = { announced_at: other.opened_at }
    await store.write.updateTable('alerts').set(announced).where('incident_id', '=', other.id).execute()
    await hasNoChannel(other.id)
    await recover(other.id)
    assert.deepEqual(await pass(), ['Acme: resolved, shop: Something else'], 'no one can be notified of its end')

    const muted = await breakDown('Silenced later', clock.now(), 'no_channel')
    await hasNoChannel(muted.id)
    assert.deepEqual(await pass(), ['Acme: shop: Silenced later'])
    const silenced = { suppressed_by: 'silence:1' }
    await store.write.updateTable('alerts').set(silenced).where('incident_id', '=', muted.id).execute()
    await recover(muted.id)
    assert.deepEqual(await pass(), ['Acme: resolved, shop: Silenced later'], 'its beginning was e-mailed')

    const lost = await breakDown('Reached no one')
    const [voice] = await store.read.selectFrom('alerts').select('id').where('incident_id', '=', lost.id).execute()
    const said = { announced_at: clock.now(), announced_alert_id: voice?.id ?? null }
    await store.write.updateTable('incidents').set(said).where('id', '=', lost.id).execute()
    assert.deepEqual(await pass(), ['Acme: shop: Reached no one'])
    const setVoice = (values: object) =>
      store.write.updateTable('alerts').set(values).where('incident_id', '=', lost.id).execute()
    await setVoice({ announced_at: clock.now() })
    assert.deepEqual(await pass(), [], 'its messages were given up, and are sent again')
    await setVoice({ announced_at: null, suppressed_by: 'silence:1' })
    await recover(lost.id)
    assert.deepEqual(
      await pass(),
      ['Acme: resolved, shop: Reached no one'],
      'its messages were given up before a silence',
    )
  },
)

testPerEngine(
  'an address is forgotten when it does not confirm, and all are when the link is revoked',
  async (engine, t) => {
    const { clock, api, mail, call, client, path, tick, subscribe, confirmed, breakDown, rows } = await start(t, engine)
    await confirmed('reader@example.com')
    await subscribe('other@example.com')
    const cleanUp = async () => {
      await api.service.worker?.loops.find(({ name }) => name === 'status-subscription-cleanup')?.tick()
      return (await rows()).map(({ email }) => email).sort()
    }
    clock.advance(DAY)
    assert.deepEqual(await cleanUp(), ['other@example.com', 'reader@example.com'])
    clock.advance(DAY + HOUR)
    const [left, ...others] = await cleanUp()
    assert.match(left ?? '', /^forgotten:[\w-]{43}$/)
    assert.deepEqual(others, ['reader@example.com'])
    const shown = await call<SubscriberRecord[]>('GET', `/api/clients/${client.id}/subscribers`)
    assert.deepEqual(
      shown.map(({ email }) => email),
      ['reader@example.com'],
    )
    await call('DELETE', `/api/clients/${client.id}/status-link`)
    await breakDown('It is down')
    clock.advance(MINUTE)
    await tick()
    assert.equal(mail.mails.length, 0)
    assert.deepEqual(await cleanUp(), [])
    // A new link is another one.
    await call('POST', `/api/clients/${client.id}/status-link`)
    assert.equal((await subscribe('reader@example.com')).status, 404)
    assert.equal(
      (await subscribe('reader@example.com', path.replace(/status\/.*\/sub/, `status/${'x'.repeat(43)}/sub`))).status,
      404,
    )
  },
)

test('an admin sees who has subscribed and removes them, which is in the audit log; a viewer sees how many', async (t) => {
  const { api, call, client, site, confirmed, subscribe, rows } = await start(t)
  await confirmed('reader@example.com')
  await subscribe('other@example.com')
  const path = `/api/clients/${client.id}/subscribers`
  const list = async (token: string) =>
    (await api.call('GET', path, undefined, bearer(token))).json<SubscriberRecord[]>()
  const [reader, other] = await list(ADMIN)
  assert.deepEqual(
    [reader?.email, other?.email, other?.confirmed_at],
    ['reader@example.com', 'other@example.com', null],
  )
  assert.deepEqual(
    (await list(VIEWER)).map(({ email }) => email),
    [null, null],
  )
  assert.equal((await api.call('DELETE', `${path}/${reader?.id}`, undefined, bearer(VIEWER))).status, 403)
  await call('DELETE', `${path}/${reader?.id}`)
  assert.equal((await api.call('DELETE', `${path}/${reader?.id}`, undefined, bearer(ADMIN))).status, 404)
  assert.deepEqual(
    (await rows()).map(({ email }) => email),
    ['other@example.com'],
  )
  const [entry] = await call<{ action: string; entity_id: string }[]>('GET', '/api/audit?limit=1')
  assert.deepEqual([entry?.action, entry?.entity_id], ['subscriber.delete', reader?.id])
  const ofNoClient = `/api/clients/${site.id}/subscribers`
  assert.equal((await api.call('GET', ofNoClient, undefined, bearer(ADMIN))).status, 404)
})

testPerEngine('the subscribers of a client go with it', async (engine, t) => {
  const { call, client, site, confirmed, rows } = await start(t, engine)
  await confirmed('reader@example.com')
  await call('DELETE', `/api/sites/${site.id}`)
  await call('DELETE', `/api/clients/${client.id}`)
  assert.deepEqual(await rows(), [])
})

test('a mail program unsubscribes with one click, without a page, and nothing that only opens the link does', async (t) => {
  const { clock, api, mail, path, tick, subscribe, secretOf, confirmed, breakDown, rows } = await start(t)
  await confirmed('reader@example.com')
  clock.advance(MINUTE)
  await breakDown('Checkout is down')
  clock.advance(MINUTE)
  await tick()
  const raw = textOf(mail.mails[0]?.raw)
  assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  const address = new URL(/^List-Unsubscribe:\s+<(.*)>/m.exec(raw)?.[1] ?? '').pathname
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await api.call(method, address, undefined, { accept: 'text/html' })
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'])
  }
  assert.equal((await rows()).length, 1)
  const click = (body: FormData | URLSearchParams) => fetch(api.url + address, { method: 'POST', body })
  const form = new FormData()
  form.set('List-Unsubscribe', 'One-Click')
  // The second finds nothing to do, and is no failure.
  for (const body of [new URLSearchParams('List-Unsubscribe=One-Click'), form]) {
    assert.equal((await click(body)).status, 204)
    assert.deepEqual(await rows(), [])
  }
  await confirmed('reader@example.com')
  assert.equal((await click(form)).status, 204, 'the link of the old subscription')
  assert.equal((await rows()).length, 1)
  // Nothing else takes a form.
  const body = new URLSearchParams({ email: 'x@example.com' })
  assert.equal((await fetch(api.url + path, { method: 'POST', body })).status, 400)

  await subscribe('other@example.com')
  await tick()
  assert.ok(!textOf(mail.mails.at(-1)?.raw).includes('List-Unsubscribe'))
  assert.notEqual(secretOf(), '')
})

test('someone unsubscribes from the page of a paused client too, but a revoked link opens nothing', async (t) => {
  const { api, call, client, path, confirmed, rows } = await start(t)
  const secret = await confirmed('reader@example.com')
  const other = await confirmed('other@example.com')
  await call('PATCH', `/api/clients/${client.id}`, { is_active: false })
  const { status, json } = await api.call('GET', `${path}/${secret}`)
  assert.equal(status, 200)
  assert.equal(json<Subscription>().name, 'Acme')
  assert.equal((await api.call('DELETE', `${path}/${secret}`)).status, 204)
  assert.deepEqual(
    (await rows()).map(({ email }) => email),
    ['other@example.com'],
  )
  await call('DELETE', `/api/clients/${client.id}/status-link`)
  assert.equal((await api.call('GET', `${path}/${other}`)).status, 404)
})

test('a mailbox of many names is asked under three of them, and the caller does not learn it', async (t) => {
  const { mail, tick, subscribe, confirmed } = await start(t)
  await confirmed('victim@example.com')
  for (const tag of ['', '+1', '+2', '+3', '+4', '+a+b']) {
    assert.equal((await subscribe(`victim${tag}@example.com`)).status, 202)
  }
  await subscribe('victim+1@other.example')
  await tick()
  assert.deepEqual(
    mail.mails.flatMap(({ to }) => to),
    ['victim+1@example.com', 'victim+2@example.com', 'victim+3@example.com', 'victim+1@other.example'],
  )
})

test('a caller subscribes ten addresses an hour, a page has a hundred that wait to be asked, and what is no address is refused', async (t) => {
  const { clock, api, mail, tick, subscribe, rows } = await start(t)
  for (const bad of ['', 'nobody', 'a@b, c@d', `${'x'.repeat(250)}@example.com`]) {
    const refused = await subscribe(bad)
    assert.equal(refused.status, 400, bad)
    assert.equal(refused.json<{ details: { path: string }[] }>().details[0]?.path, '/email')
  }
  for (let n = 0; n < 100; n++) {
    if (n > 0 && n % 10 === 0) {
      const refused = await subscribe('one-more@example.com')
      assert.equal(refused.status, 429)
      assert.equal(refused.headers.get('retry-after'), '3600')
      clock.advance(HOUR)
    }
    assert.equal((await subscribe(`reader-${n}@example.com`)).status, 202)
  }
  clock.advance(HOUR)
  assert.equal((await subscribe('one-more@example.com')).status, 202)
  const waiting = (await rows()).map(({ email }) => email)
  assert.equal(waiting.length, 100)
  assert.ok(
    waiting.includes('one-more@example.com') && !waiting.includes('reader-0@example.com'),
    'it has waited longest',
  )
  await tick()
  await tick()
  assert.equal(mail.mails.length, 10)
  assert.ok(mail.mails.some(({ to }) => to[0] === 'one-more@example.com'))
  assert.equal((await api.call('GET', `/api/status/${'x'.repeat(43)}/subscribers/${'x'.repeat(43)}`)).status, 404)
})

testPerEngine(
  'a flood of invented addresses closes the page to no visitor and makes no cannon of the mail server',
  async (engine, t) => {
    const { clock, api, mail, path, tick } = await start(t, engine, {}, { TRUST_PROXY: '127.0.0.1' })
    const from = async (address: string, email: string) =>
      (await api.call('POST', path, { email }, { 'x-forwarded-for': address })).status
    for (let n = 0; n < 30; n++) assert.equal(await from(`203.0.${n}.1`, `invented-${n}@example.com`), 202)
    await tick()
    assert.equal(mail.mails.length, 10)
    clock.advance(MINUTE)
    assert.equal(await from('198.51.100.7', 'visitor@example.com'), 202)
    await tick()
    assert.equal(mail.mails.length, 10, 'not before the ten minutes are over')
    clock.advance(10 * MINUTE)
    await tick()
    assert.equal(mail.mails.length, 20)
    assert.ok(mail.mails.slice(10).some(({ to }) => to[0] === 'visitor@example.com'))

    const ofNetwork = []
    for (let n = 0; n < 121; n++) {
      if (n % 10 === 9) clock.advance(HOUR)
      ofNetwork.push(await from(`192.0.2.${n}`, `neighbour-${n}@example.com`))
    }
    assert.deepEqual(ofNetwork.slice(-2), [202, 429])
  },
)

test('addresses that the mail server refuses use up a page for ten minutes at most', async (t) => {
  const onRcptTo = ({ address }: { address: string }, _session: unknown, done: (error?: Error | null) => void) =>
    done(address.startsWith('invented') ? smtpError(550, '5.1.1 no such user') : null)
  const { clock, api, mail, path, tick, subscribe } = await start(t, sqlite, { onRcptTo }, { TRUST_PROXY: '127.0.0.1' })
  for (let n = 0; n < 10; n++) await subscribe(`invented-${n}@example.com`)
  await tick()
  const visit = async (email: string) => {
    await api.call('POST', path, { email }, { 'x-forwarded-for': '198.51.100.7' })
    await tick()
    return mail.mails.length
  }
  assert.equal(await visit('visitor@example.com'), 0)
  clock.advance(10 * MINUTE)
  assert.equal(await visit('visitor@example.com'), 1)
  // When they are marked as asked.
  clock.advance(2 * HOUR - 5 * MINUTE)
  assert.equal(await visit('later@example.com'), 2)
})

test('a clock that was set back makes no visitor of a page wait until it has caught up', async (t) => {
  const { clock, api, mail, path, tick, subscribe } = await start(t, sqlite, {}, { TRUST_PROXY: '127.0.0.1' })
  for (let n = 0; n < 10; n++) await subscribe(`reader-${n}@example.com`)
  await tick()
  assert.equal(mail.mails.length, 10)
  clock.advance(-2 * HOUR)
  await api.call('POST', path, { email: 'visitor@example.com' }, { 'x-forwarded-for': '198.51.100.7' })
  await tick()
  assert.equal(mail.mails.length, 11)
})

test('a service that stops calls off an e-mail that the server holds, and counts no failure', async (t) => {
  let isHolding = false
  let held = 0
  const { api, clock, tick, confirmed, breakDown, rows } = await start(t, sqlite, {
    onRcptTo: (_address, _session, done) => (isHolding ? held++ : done()),
  })
  await confirmed('reader@example.com')
  clock.advance(SECOND)
  await breakDown('It is down')
  clock.advance(MINUTE)
  isHolding = true
  const before = await rows()
  const sending = tick()
  await until('the server has the e-mail', () => (held > 0 ? held : undefined))
  await api.service.worker?.stop()
  await sending
  assert.deepEqual(await rows(), before)
})

test('an e-mail that the server does not take now comes later, and an address that it refuses is forgotten', async (t) => {
  let answer: Error | null = smtpError(451, '4.7.1 try again later')
  const { clock, mail, tick, confirmed, breakDown, rows } = await start(t, sqlite, {
    onRcptTo: (_address, _session, done) => done(isBroken ? answer : null),
  })
  let isBroken = false
  await confirmed('reader@example.com')
  clock.advance(SECOND)
  await breakDown('It is down')
  clock.advance(MINUTE)
  isBroken = true
  await tick()
  await tick()
  assert.deepEqual(mail.mails, [])
  assert.deepEqual(
    (await rows()).map(({ failures }) => failures),
    [1],
    'it waits before it tries again',
  )
  clock.advance(MINUTE)
  await tick()
  assert.deepEqual(
    (await rows()).map(({ failures }) => failures),
    [2],
  )
  isBroken = false
  clock.advance(2 * MINUTE)
  await tick()
  assert.equal(mail.mails.length, 1)
  assert.deepEqual(
    (await rows()).map(({ failures }) => failures),
    [0],
  )

  await breakDown('It is down again')
  clock.advance(11 * MINUTE)
  isBroken = true
  answer = smtpError(550, '5.1.1 no such user')
  await tick()
  assert.deepEqual(await rows(), [])
})

testPerEngine(
  'an unconfirmed address that the server refuses is not tried again for two days, and nothing shows it',
  async (engine, t) => {
    const { clock, api, mail, call, client, tick, subscribe, rows } = await start(t, engine, {
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('invented') ? smtpError(550, '5.1.1 no such user') : null),
    })
    const cleanUp = () => api.service.worker?.loops.find(({ name }) => name === 'status-subscription-cleanup')?.tick()
    assert.equal((await subscribe('invented@example.com')).status, 202)
    await tick()
    const [refused, ...others] = await rows()
    assert.ok(refused !== undefined && others.length === 0)
    assert.doesNotMatch(JSON.stringify(refused), /invented/)
    assert.deepEqual(await call('GET', `/api/clients/${client.id}/subscribers`), [])
    assert.equal((await subscribe('invented@example.com')).status, 202)
    await tick()
    assert.deepEqual(await rows(), [refused])

    clock.advance(2 * DAY + SECOND)
    await api.service.membership.beat()
    await cleanUp()
    assert.deepEqual(await rows(), [], 'the server may know the address by now')
    assert.equal((await subscribe('reader@example.com')).status, 202)
    await tick()
    assert.deepEqual(
      mail.mails.map(({ to }) => to),
      [['reader@example.com']],
    )
  },
)

test('addresses that a server puts off hold up no one', async (t) => {
  const putOff = smtpError(451, '4.7.1 try again later')
  const { clock, mail, tick, subscribe, confirmed, breakDown } = await start(t, sqlite, {
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('slow') ? putOff : null),
  })
  await confirmed('reader@example.com')
  clock.advance(SECOND)
  await breakDown('It is down')
  clock.advance(MINUTE)
  for (let n = 0; n < 5; n++) assert.equal((await subscribe(`slow-${n}@example.com`)).status, 202)
  await tick()
  assert.deepEqual(
    mail.mails.map(({ to }) => to),
    [['reader@example.com']],
  )
  // Now all of them are due before the next one.
  clock.advance(2 * MINUTE)
  assert.equal((await subscribe('later@example.com')).status, 202)
  await tick()
  assert.deepEqual(mail.mails.at(-1)?.to, ['later@example.com'])
})

test('without a mail server the page takes no subscribers', async (t) => {
  const api = await startTestService(t, new TestClock('2026-11-20T10:00:30.000Z'), { ADMIN_TOKEN: ADMIN })
  const call = async <T>(method: string, path: string, body?: object) =>
    (await api.call(method, path, body, bearer(ADMIN))).json<T>()
  const client = await call<ClientRecord>('POST', '/api/clients', { name: 'Acme' })
  const { token } = await call<StatusLinkRecord>('POST', `/api/clients/${client.id}/status-link`)
  const page = await api.call('GET', `/api/status/${token}`)
  assert.equal(page.json<{ takes_subscribers: boolean }>().takes_subscribers, false)
  assert.equal((await api.call('POST', `/api/status/${token}/subscribers`, { email: 'a@example.com' })).status, 409)
})

const NOW = Date.parse('2026-11-20T10:00:00Z')
const AGO = NOW - 5 * MINUTE
const shown = (state: Partial<Shown> = {}): Shown => ({
  id: 'i1',
  siteId: 's1',
  title: 'It is down',
  startedAt: NOW - HOUR,
  shownAt: NOW - MINUTE,
  resolvedAt: null,
  backAt: null,
  isAlone: true,
  ...state,
})
const announced = (...kinds: Turn['kind'][]): Announced => ({
  id: 'i1',
  site_id: 's1',
  title: 'It was down',
  turns: kinds.map((kind) => ({ kind, at: AGO, saidAt: AGO })),
})
const [OPEN, OVER] = [[announced('opened')], [announced('opened', 'resolved')]]
/** What subscribers learn, what was announced, what the page shows, when it ended if the page leaves it out, and the words. */
type Case = readonly [string, Announced[], Partial<Shown> | null, number | null | undefined, string | null]
const CASES: readonly Case[] = [
  ['that it began', [], {}, undefined, 'opened 09:00 It is down'],
  ['nothing while it lasts', OPEN, {}, undefined, null],
  ['that it is over', OPEN, { resolvedAt: AGO }, undefined, 'resolved 09:55 It is down'],
  ['nothing once it is over', OVER, { resolvedAt: AGO }, undefined, null],
  ['that it is back', OVER, { backAt: AGO }, undefined, 'back 09:55 It is down'],
  ['nothing when it ended before anyone knew of it', [], { resolvedAt: AGO }, undefined, null],
  ['nothing before it is settled what explains it', [], { shownAt: NOW - 10 * SECOND }, undefined, null],
  ['nothing of the future, when a clock is set back', [], { shownAt: NOW + HOUR }, undefined, null],
  ['nothing while another incident explains it', [], { isAlone: false }, undefined, null],
  [
    'its end, though another explains it',
    OPEN,
    { isAlone: false, resolvedAt: NOW },
    undefined,
    'resolved 10:00 It is down',
  ],
  ['nothing of its return while another explains it', OVER, { isAlone: false }, undefined, null],
  ['its end, though the page has left it out since', OPEN, null, AGO, 'resolved 09:55 It was down'],
  ['nothing while it lasts and the page leaves it out', OPEN, null, null, null],
  ['nothing when it is deleted', OPEN, null, undefined, null],
]
for (const [title, known, state, end, expected] of CASES) {
  test(`of an incident, subscribers learn ${title}`, () => {
    const ends = new Map(end === undefined ? [] : [['i1', end]])
    const [changed] = announcementsOf(known, state === null ? [] : [shown(state)], ends, NOW)
    const last = changed?.turns.at(-1)
    const words = last === undefined ? null : `${last.kind} ${isoTime(last.saidAt).slice(11, 16)} ${changed?.title}`
    assert.equal(words, expected)
    assert.equal(last?.at, expected === null ? undefined : NOW)
  })
}

test('who subscribed is e-mailed what was announced since, of what began and ended both, and nothing after a day', () => {
  const turns: Turn[] = [
    { kind: 'opened', at: NOW - 2 * MINUTE, saidAt: NOW - HOUR },
    { kind: 'resolved', at: NOW - MINUTE, saidAt: NOW - MINUTE },
  ]
  const row = { id: 'i1', client_id: 'c1', site_id: 's1', title: 'It is down', changed_at: NOW - MINUTE }
  const rows = [{ ...row, turns: JSON.stringify(turns) }]
  const sites = [{ id: 's1', name: 'shop', timezone: 'UTC' }]
  const kinds = (until: number, now = NOW) => incidentsSince(rows, sites, until, now).map(({ kind }) => kind)
  assert.deepEqual(kinds(NOW - HOUR), ['opened', 'resolved'])
  assert.deepEqual(kinds(NOW - 2 * MINUTE), ['resolved'])
  assert.deepEqual(kinds(NOW - MINUTE), [])
  assert.deepEqual(kinds(NOW - HOUR, NOW + DAY), [])
  assert.deepEqual(incidentsSince(rows, [], 0, NOW), [], 'its site is deleted')
})

testPerEngine('no change is lost when the clock is set back by an hour', async (engine, t) => {
  const { api, clock, mail, tick, call, site, confirmed, breakDown, recover } = await start(t, engine)
  await confirmed('reader@example.com')
  const newsOf = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      clock.advance(MINUTE)
      await api.service.membership.beat()
      await tick()
    }
    return mail.mails.splice(0).map(({ raw }) => subjectOf(raw))
  }
  clock.advance(HOUR)
  const { id } = await breakDown('Checkout is down')
  assert.deepEqual(await newsOf(12), ['Acme: shop: Checkout is down'])
  clock.advance(-HOUR)
  await recover(id)
  const times = { starts_at: isoTime(clock.now() + DAY), ends_at: isoTime(clock.now() + 2 * DAY) }
  await call('POST', '/api/maintenance', { site_id: site.id, title: 'Move', kind: 'once', ...times })
  // By the clock that was ahead, the next e-mail may be sent in an hour.
  assert.deepEqual(await newsOf(72), ['Acme: 2 status changes'])
})

testPerEngine('what a page shows at the upgrade counts as announced, and its end is news', async (engine, t) => {
  const { api, clock, mail, tick, confirmed, breakDown, recover } = await start(t, engine)
  const { store } = api.service
  await confirmed('reader@example.com')
  await tick()
  const [first, silenced] = [await breakDown('Checkout is down'), await breakDown('Silenced', clock.now(), 'silence:1')]
  const column = { integer: 'bigint', counter: '', json: '', identity: '', clustered: '', ephemeral: '' }
  const [, copy = ''] = announcedIncidentsMigration.statements({ ...column, uncompressed: () => [] })
  await sql.raw(copy).execute(store.write)
  const settle = async () => {
    clock.advance(11 * MINUTE)
    await tick()
    return mail.mails.splice(0).map(({ raw }) => subjectOf(raw))
  }
  assert.deepEqual(await settle(), [])
  const announced = { suppressed_by: null, announced_at: clock.now() }
  await store.write.updateTable('alerts').set(announced).where('incident_id', '=', silenced.id).execute()
  assert.deepEqual(await settle(), ['Acme: shop: Silenced'])
  await recover(first.id)
  assert.deepEqual(await settle(), ['Acme: resolved, shop: Checkout is down'])
})

testPerEngine(
  'an incident that a page no longer shows, as a check of ours speaks for it, still has its end e-mailed',
  async (engine, t) => {
    const { api, clock, mail, tick, confirmed, breakDown, recover } = await start(t, engine)
    const { store } = api.service
    await confirmed('reader@example.com')
    const { id } = await breakDown('Checkout is down')
    clock.advance(MINUTE)
    await tick()
    assert.deepEqual(
      mail.mails.splice(0).map(({ raw }) => subjectOf(raw)),
      ['Acme: shop: Checkout is down'],
    )
    const own = { cause: 'own', title: 'A check cannot run' } as const
    await store.write.updateTable('incidents').set(own).where('id', '=', id).execute()
    clock.advance(11 * MINUTE)
    await tick()
    assert.deepEqual(mail.mails, [])
    await recover(id)
    await tick()
    assert.deepEqual(
      mail.mails.map(({ raw }) => subjectOf(raw)),
      ['Acme: resolved, shop: Checkout is down'],
    )
  },
)

test('an e-mail says of an incident since when it lasts, as the page does, and not since when it was seen', () => {
  const change = { id: 'i1', at: NOW, site: 'shop', title: 'It is down', timezone: 'UTC' }
  const changes = [
    { ...change, kind: 'opened' as const, saidAt: NOW - HOUR - 2 * MINUTE },
    { ...change, kind: 'resolved' as const, saidAt: NOW - MINUTE },
  ]
  const { text } = changesMail('Acme', changes, { page: 'https://watch.example/', subscription: '' }, NOW)
  assert.match(text, /Open since 08:58 UTC: shop: It is down\n.*Resolved at 09:59 UTC/)
})

test('an e-mail about one incident that lasts leads to it, and every other one to the page', () => {
  const change = { id: 'i1', at: NOW, saidAt: NOW, site: 'shop', title: 'It is down', timezone: 'UTC' }
  const [opened, resolved] = (['opened', 'resolved'] as const).map((kind) => ({ ...change, kind }))
  assert.ok(opened !== undefined && resolved !== undefined)
  const links = {
    page: 'https://watch.example/status/t',
    subscription: 'https://watch.example/status/t/subscription/s',
  }
  const led = (changes: StatusChange[]) =>
    /https:\/\/watch\.example\/status\/t(?!\/subscription)\S*/.exec(changesMail('Acme', changes, links, NOW).text)?.[0]
  assert.equal(led([opened]), 'https://watch.example/status/t/incidents/i1')
  assert.equal(led([resolved]), 'https://watch.example/status/t')
  assert.equal(led([opened, { ...opened, id: 'i2' }]), 'https://watch.example/status/t')
})

test('names of strangers are text in an e-mail and no links', () => {
  const { subject, text, html } = composeNotice({
    subject: 'Acme\r\nBcc: all@example.com',
    lines: ['<img src=x> https://evil.example/ www.evil.example'],
    link: { label: 'Open', url: 'https://watch.example/' },
    footer: { text: 'Because.' },
  })
  assert.equal(subject, 'Acme Bcc: all@example.com')
  assert.ok(!html.includes('<img'), html)
  assert.ok(!/https:\/\/evil|www\.evil/.test(html + text), text)
})

test('someone who does not confirm is asked three times, and then left alone for 30 days', async (t) => {
  const { clock, api, mail, tick, subscribe, rows } = await start(t)
  const cleanUp = () => api.service.worker?.loops.find(({ name }) => name === 'status-subscription-cleanup')?.tick()
  const askFor = async (hours: number) => {
    for (let hour = 0; hour < hours; hour++) {
      assert.equal((await subscribe('victim@example.com')).status, 202)
      await tick()
      clock.advance(HOUR + SECOND)
      await api.service.membership.beat()
    }
    return mail.mails.length
  }
  assert.equal(await askFor(49), 3)
  await cleanUp()
  assert.doesNotMatch(JSON.stringify(await rows()), /victim/)
  assert.equal(await askFor(49), 3, 'its address was forgotten')
  const longAgo = clock.now() - 31 * DAY
  await api.service.store.write.updateTable('status_subscribers').set({ created_at: longAgo }).execute()
  await cleanUp()
  assert.deepEqual(await rows(), [])
  assert.equal(await askFor(1), 4)
})
