import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import type { AuditRecord } from '../../src/management/index.ts'
import type { ChannelList, OwnChannelRecord, TestResult } from '../../src/notifications/index.ts'
import { logicEngines, testPerEngine } from '../../testkit/engines.ts'
import { ADMIN, MISSING, stage, VIEWER } from './api-support.ts'
import { watchedServer } from './watched-server.ts'

const KEY = 'R0123456789abcdef0123456789abcdef'
const OTHER_KEY = 'R9876543210abcdef0123456789abcdef'
const SLACK = 'https://hooks.slack.com/services/T0/B0/team'
const SECRET = 'a-secret-of-the-receiver'

testPerEngine(
  'each channel gets the incident in its own way, and its end',
  async (engine, t) => {
    const { add, find, call, hookUrl, received } = await watchedServer(t, engine)
    await add({ kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` })
    await add({ kind: 'opsgenie', name: 'Jira', address: KEY, endpoint: `${hookUrl}/jira` })
    await add({ kind: 'webhook', name: 'Ours', address: `${hookUrl}/ours`, secret: SECRET })
    await find(503)
    await find(200)
    const to = (place: string) =>
      received.flatMap(({ path, headers, body }) =>
        path.includes(place) ? [{ path, headers, body: JSON.parse(body) as Record<string, unknown>, text: body }] : [],
      )
    const [trigger, resolve, ...more] = to('/v2/enqueue')
    assert.deepEqual(more, [])
    assert.deepEqual([trigger?.body.event_action, resolve?.body.event_action], ['trigger', 'resolve'])
    assert.deepEqual([trigger?.body.routing_key, resolve?.body.routing_key], [KEY, KEY])
    assert.match(`${trigger?.body.dedup_key}`, /^tagwarden:[\w-]{36}$/)
    assert.equal(resolve?.body.dedup_key, trigger?.body.dedup_key)
    assert.partialDeepStrictEqual(trigger?.body.payload, { severity: 'critical', source: 'shop', component: 'health' })

    const [opened, closed] = to('/jira')
    assert.match(`${opened?.path}`, /\/jira\/v2\/alerts$/)
    assert.equal(opened?.headers.authorization, `GenieKey ${KEY}`)
    assert.partialDeepStrictEqual(opened?.body, { priority: 'P1', entity: 'shop', alias: trigger?.body.dedup_key })
    const alias = encodeURIComponent(`${opened?.body.alias}`)
    assert.match(`${closed?.path}`, new RegExp(`/jira/v2/alerts/${alias}/close\\?identifierType=alias$`))
    assert.ok(!received.some(({ path }) => path.includes(KEY)), 'keys are in no address')

    const [signed] = to('/ours')
    const timestamp = signed?.headers['x-tagwarden-timestamp']
    const hmac = createHmac('sha256', SECRET).update(`${timestamp}.${signed?.text}`).digest('hex')
    assert.equal(signed?.headers['x-tagwarden-signature'], `sha256=${hmac}`)
    assert.equal(signed?.body.event, 'opened')
    const { channels } = (await call('GET', '/api/channels')).json<ChannelList>()
    assert.ok(channels.some(({ channel, kind }) => channel === signed?.body.channel && kind === 'webhook'))
  },
  logicEngines,
)

testPerEngine(
  'a channel learns of the end although it takes only what is critical by then, or the probe is gone',
  async (engine, t) => {
    const { add, find, call, run, clock, path, service, hookUrl, received } = await watchedServer(t, engine)
    const pager = await add({ kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` })
    await find(200, '<html>another server</html>')
    assert.equal((await call('PATCH', `${path}/${pager.id}`, { minimum_severity: 'critical' })).status, 200)
    await find(200)
    await find(503)
    const [probe] = (await call('GET', '/api/probes')).json<{ id: string }[]>()
    assert.equal((await call('DELETE', `/api/probes/${probe?.id}`)).status, 204)
    for (const loop of service.worker?.alerts.loops ?? []) await loop.tick()
    clock.advance(HOUR)
    await service.membership.beat()
    await run()
    const actions = received.map(({ body }) => (JSON.parse(body) as { event_action: string }).event_action)
    assert.deepEqual(actions, ['trigger', 'resolve', 'trigger', 'resolve'])
  },
)

testPerEngine('what pages people learns of the end that comes with switching a client off', async (engine, t) => {
  const { add, find, call, run, clock, client, service, hookUrl, received } = await watchedServer(t, engine)
  await add({ kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` })
  await add({ kind: 'webhook', name: 'Ours', address: `${hookUrl}/ours` })
  await find(503)
  assert.equal((await call('PATCH', `/api/clients/${client.id}`, { is_active: false })).status, 200)
  for (const loop of service.worker?.alerts.loops ?? []) await loop.tick()
  clock.advance(HOUR)
  await service.membership.beat()
  await run()
  const said = received.map(({ path, body }) => {
    const { event, event_action } = JSON.parse(body) as Record<string, unknown>
    return `${path.split('/').at(-1)} ${event ?? event_action}`
  })
  assert.deepEqual(said.toSorted(), ['enqueue resolve', 'enqueue trigger', 'ours opened'])
})

const ENDS = {
  site: 'deleting the site',
  client: 'deleting the client',
  channel: 'deleting the channel',
  switch: 'switching the channel off',
  key: 'another key of the channel',
}
const REASONS = {
  site: /its probe was removed/,
  client: /its probe was removed/,
  channel: /the channel was deleted\. It may still be going on/,
  switch: /the channel was switched off\. It may still be going on/,
  key: /the channel got another key\. It may still be going on/,
}
for (const what of ['site', 'client', 'channel', 'switch', 'key'] as const) {
  testPerEngine(`what pages people learns of the end that comes with ${ENDS[what]}`, async (engine, t) => {
    const { add, find, call, run, clock, client, service, hookUrl, received, answer, path, list, store } =
      await watchedServer(t, engine)
    const pager = await add({ kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` })
    const jira = await add({ kind: 'opsgenie', name: 'Jira', address: KEY, endpoint: `${hookUrl}/jira` })
    await add({ kind: 'webhook', name: 'Ours', address: `${hookUrl}/ours` })
    await find(200, '<html>another server</html>')
    await find(503)
    received.length = 0
    const [site] = (await call('GET', '/api/sites')).json<{ id: string }[]>()
    const changes: Record<typeof what, [method: 'PATCH' | 'DELETE', path: string, body?: object][]> = {
      site: [['DELETE', `/api/sites/${site?.id}`]],
      client: [['DELETE', `/api/clients/${client.id}`]],
      channel: [pager, jira].map(({ id }) => ['DELETE', `${path}/${id}`]),
      switch: [pager, jira].map(({ id }) => ['PATCH', `${path}/${id}`, { is_active: false }]),
      key: [
        ['PATCH', `${path}/${pager.id}`, { address: OTHER_KEY, endpoint: `${hookUrl}/v2/enqueue` }],
        ['PATCH', `${path}/${jira.id}`, { address: OTHER_KEY, endpoint: `${hookUrl}/jira` }],
      ],
    }
    answer.status = 503
    for (const [method, place, body] of changes[what]) assert.ok((await call(method, place, body)).status < 300)
    // A change starts a round of its own, which the next would join although it began an hour earlier.
    await run()
    const sendAll = async () => {
      clock.advance(HOUR)
      await service.membership.beat()
      await run()
    }
    await sendAll()
    answer.status = 200
    received.length = 0
    await sendAll()
    const said = received.map(({ path: at, headers, body }) => {
      const { event_action, routing_key, note } = JSON.parse(body) as Record<string, unknown>
      if (event_action === undefined) assert.match(String(note), REASONS[what])
      assert.equal(`${routing_key ?? headers.authorization}`.replace('GenieKey ', ''), KEY)
      return (
        event_action ??
        at
          .split('/')
          .slice(-2)
          .join('/')
          .replace(/tagwarden%3A[\w-]{36}/, 'alias')
      )
    })
    const closed = ['alias%3Acritical/close?identifierType=alias', 'alias/close?identifierType=alias', 'resolve']
    assert.deepEqual(said.toSorted(), closed)
    for (const loop of service.worker?.notifications.loops ?? []) await loop.tick()
    const keys = (await store.read.selectFrom('channels').select('address').execute()).map(({ address }) => address)
    assert.equal(
      keys.some((address) => address.includes(KEY)),
      what === 'site' || what === 'switch',
      'keys go with the channel',
    )
    if (what === 'key') {
      await find(200)
      const ends = (await list()).filter(({ channel, kind }) => kind === 'resolved' && channel === pager.channel)
      assert.deepEqual(ends, [], 'the new key knows of no beginning')
    }
    if (what === 'site' || what === 'client')
      assert.ok((await list()).every(({ kind, state }) => kind === 'resolved' || state === 'delivered'))
  })
}

for (const what of ['channel', 'switch', 'key'] as const) {
  for (const isTried of [true, false]) {
    const end = isTried ? 'could not be sent yet' : 'was not sent yet'
    testPerEngine(
      `what pages people learns of the end of a deleted site that ${end} before ${ENDS[what]}`,
      async (engine, t) => {
        const { add, find, call, run, clock, service, hookUrl, received, answer, path } = await watchedServer(t, engine)
        const pager = await add({ kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` })
        await find(503)
        received.length = 0
        const sendAll = async () => {
          clock.advance(HOUR)
          await service.membership.beat()
          await run()
        }
        const [site] = (await call('GET', '/api/sites')).json<{ id: string }[]>()
        answer.status = 503
        assert.equal((await call('DELETE', `/api/sites/${site?.id}`)).status, 204)
        if (isTried) await sendAll()
        const place = `${path}/${pager.id}`
        const address = { address: OTHER_KEY, endpoint: `${hookUrl}/v2/enqueue` }
        const changed = await {
          channel: () => call('DELETE', place),
          switch: () => call('PATCH', place, { is_active: false }),
          key: () => call('PATCH', place, address),
        }[what]()
        assert.ok(changed.status < 300, changed.text)
        await run()
        answer.status = 200
        received.length = 0
        await sendAll()
        const said = received.map(({ body }) => JSON.parse(body) as { event_action: string; routing_key: string })
        assert.deepEqual(
          said.map(({ event_action, routing_key }) => [event_action, routing_key]),
          [['resolve', KEY]],
        )
      },
    )
  }
}

for (const what of ['channel', 'switch', 'key'] as const) {
  for (const isOver of [true, false]) {
    const since = isOver ? 'is over since, before' : 'lasts, before'
    testPerEngine(
      `what pages people is sent the end of what it may have opened, and what ${since} ${ENDS[what]}`,
      async (engine, t) => {
        const { add, find, run, call, clock, service, hookUrl, received, answer, path } = await watchedServer(t, engine)
        const pager = await add({ kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` })
        const sendAll = async () => {
          clock.advance(HOUR)
          await service.membership.beat()
          await run()
        }
        // The service may have taken it and failed to say so.
        answer.status = 503
        await find(503)
        assert.equal(received.length > 0, true)
        if (isOver) await find(200)
        const place = `${path}/${pager.id}`
        const address = { address: OTHER_KEY, endpoint: `${hookUrl}/v2/enqueue` }
        const changed = await {
          channel: () => call('DELETE', place),
          switch: () => call('PATCH', place, { is_active: false }),
          key: () => call('PATCH', place, address),
        }[what]()
        assert.ok(changed.status < 300, changed.text)
        await run()
        answer.status = 200
        received.length = 0
        await sendAll()
        const said = received.map(({ body }) => JSON.parse(body) as { event_action: string; routing_key: string })
        const toOldKey = said.flatMap(({ event_action, routing_key }) => (routing_key === KEY ? event_action : []))
        assert.deepEqual(toOldKey, ['resolve'])
        const toNewKey = said.flatMap(({ event_action, routing_key }) => (routing_key === KEY ? [] : event_action))
        assert.deepEqual(toNewKey, what === 'key' && !isOver ? ['trigger'] : [])
      },
    )
  }
}

for (const what of ['deleted and added again', 'given another key and its own again'] as const) {
  testPerEngine(`a pager that is ${what} resolves what it opened before, and then pages again`, async (engine, t) => {
    const { add, find, call, run, clock, service, hookUrl, received, answer, path, store } = await watchedServer(
      t,
      engine,
    )
    const pager = { kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` }
    const { id } = await add(pager)
    await find(200, '<html>another server</html>')
    const { address, endpoint } = pager
    const isDeleted = what === 'deleted and added again'
    if (isDeleted) assert.equal((await call('DELETE', `${path}/${id}`)).status, 204)
    else assert.equal((await call('PATCH', `${path}/${id}`, { address: OTHER_KEY, endpoint })).status, 200)
    answer.status = 503
    for (let attempts = 0; attempts < 3; attempts++) {
      clock.advance(MINUTE)
      await service.membership.beat()
      await run()
    }
    answer.status = 200
    received.length = 0
    if (isDeleted) await add(pager)
    else assert.equal((await call('PATCH', `${path}/${id}`, { address, endpoint })).status, 200)
    await find(503)
    clock.advance(MINUTE)
    await service.membership.beat()
    await run()
    const said = received.map(({ body }) => (JSON.parse(body) as { event_action: string }).event_action)
    assert.deepEqual(said, ['resolve', 'trigger'])
    for (const loop of service.worker?.notifications.loops ?? []) await loop.tick()
    const channels = await store.read.selectFrom('channels').select('address').execute()
    assert.equal(channels.filter((one) => one.address.includes(KEY)).length, 1)
  })
}

testPerEngine(
  'a channel that people read may have a wait for warnings, and no other',
  async (engine, t) => {
    const { add, path, call } = await watchedServer(t, engine)
    const chat = await add({ kind: 'chat', name: 'Team', address: SLACK, warnings_after_minutes: 5 })
    assert.equal(chat.warnings_after_minutes, 5)
    const changed = await call('PATCH', `${path}/${chat.id}`, { warnings_after_minutes: null })
    assert.equal(changed.json<OwnChannelRecord>().warnings_after_minutes, null)
    const kept = await call('PATCH', `${path}/${chat.id}`, { name: 'The team', warnings_after_minutes: 0 })
    assert.partialDeepStrictEqual(kept.json(), { name: 'The team', warnings_after_minutes: 0 })
    for (const wait of [-1, 1_441, 2.5]) {
      const refused = await call('PATCH', `${path}/${chat.id}`, { warnings_after_minutes: wait })
      assert.equal(refused.status, 400, `${wait}`)
    }
    const pager = { kind: 'pagerduty', name: 'On call', address: KEY }
    const refused = await call('POST', path, { ...pager, warnings_after_minutes: 5 })
    assert.equal(refused.status, 400)
    assert.match(JSON.stringify(refused.json()), /warnings_after_minutes/)
    const { id } = await add(pager)
    assert.equal((await call('PATCH', `${path}/${id}`, { warnings_after_minutes: 5 })).status, 400)
    assert.equal((await call('PATCH', `${path}/${id}`, { warnings_after_minutes: null })).status, 200)
  },
  logicEngines,
)

testPerEngine('a channel for critical alerts receives no warning, and one that is off nothing', async (engine, t) => {
  const { add, hookUrl, client, store, list, path, call, find } = await watchedServer(t, engine)
  await add({ kind: 'webhook', name: 'All', address: `${hookUrl}/all` })
  await add({ kind: 'webhook', name: 'Critical', address: `${hookUrl}/critical`, minimum_severity: 'critical' })
  const off = await add({ kind: 'webhook', name: 'Off', address: `${hookUrl}/off`, is_active: false })
  await find(200, '<html>another server</html>')
  const [alert] = await store.read.selectFrom('alerts').select('severity').execute()
  assert.equal(alert?.severity, 'warning', 'what this test is about')
  const names = new Map(
    (await call('GET', path)).json<OwnChannelRecord[]>().map(({ channel, name }) => [channel, name]),
  )
  const sent = async () =>
    (await list(`?client_id=${client.id}`)).map(({ channel, kind }) => `${names.get(channel)} ${kind}`).sort()
  assert.deepEqual(await sent(), ['All opened'])
  await find(503)
  assert.deepEqual(await sent(), ['All escalated', 'All opened', 'Critical escalated'])
  assert.equal((await call('PATCH', `${path}/${off.id}`, { is_active: true })).status, 200)
  await find(200)
  assert.deepEqual(
    (await sent()).filter((line) => line.endsWith('resolved')),
    ['All resolved', 'Critical resolved'],
    'one that is switched on in between receives no end without a beginning',
  )
})

testPerEngine(
  'a channel for what is critical is notified when a warning becomes critical, though the client wants no escalations',
  async (engine, t) => {
    const { add, hookUrl, client, list, path, call, find } = await watchedServer(t, engine)
    assert.equal((await call('PATCH', `/api/clients/${client.id}`, { notify_escalated: false })).status, 200)
    await add({ kind: 'webhook', name: 'All', address: `${hookUrl}/all` })
    await add({ kind: 'webhook', name: 'Critical', address: `${hookUrl}/critical`, minimum_severity: 'critical' })
    await find(200, '<html>another server</html>')
    await find(503)
    const names = new Map(
      (await call('GET', path)).json<OwnChannelRecord[]>().map(({ channel, name }) => [channel, name]),
    )
    const sent = (await list(`?client_id=${client.id}`)).map(({ channel, kind }) => `${names.get(channel)} ${kind}`)
    assert.deepEqual(sent.sort(), ['All opened', 'Critical escalated'])
  },
)

testPerEngine('channels are added, changed, tested and deleted, and their keys are never shown', async (engine, t) => {
  const tokens = { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER }
  const api = await stage(t, engine, tokens)
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, token = ADMIN) =>
    api.call(method, path, body, as(token))
  const client = (await call('POST', '/api/clients', { name: 'ACME' })).json<{ id: string }>()
  const other = (await call('POST', '/api/clients', { name: 'Globex' })).json<{ id: string }>()
  const path = `/api/clients/${client.id}/channels`
  const added = await call('POST', path, {
    kind: 'pagerduty',
    name: ' On call ',
    address: KEY,
    endpoint: `${api.hookUrl}/v2`,
  })
  assert.equal(added.status, 201, added.text)
  const channel = added.json<OwnChannelRecord>()
  assert.partialDeepStrictEqual(channel, {
    kind: 'pagerduty',
    name: 'On call',
    address: '…cdef',
    minimum_severity: 'warning',
    is_active: true,
    channel: `own:${client.id}:${channel.id}`,
    endpoint: `${api.hookUrl}/v2`,
    has_secret: false,
  })
  assert.match(channel.fingerprint ?? '', /^[\w-]{16}$/)
  const own = `${path}/${channel.id}`
  const test = await call('POST', `${own}/test`)
  assert.deepEqual(
    test.json<TestResult[]>().map(({ kind, delivered }) => [kind, delivered]),
    [['pagerduty', true]],
  )
  assert.equal((JSON.parse(api.received[0]?.body ?? '{}') as { routing_key: string }).routing_key, KEY)

  const secret = { kind: 'webhook', name: 'Ours', address: 'https://x.example/token', secret: SECRET }
  assert.partialDeepStrictEqual((await call('POST', path, secret)).json(), {
    address: 'https://x.example/…',
    endpoint: null,
    has_secret: true,
  })
  const patched = await call('PATCH', own, { minimum_severity: 'critical', name: 'Night' })
  assert.partialDeepStrictEqual(patched.json(), { minimum_severity: 'critical', name: 'Night', address: '…cdef' })

  const signed = (await call('POST', path, { ...secret, name: 'Theirs' })).json<OwnChannelRecord>()
  const { kind: _kind, name: _name, ...fields } = secret
  for (const change of [{ address: 'https://x.example/other' }, fields]) {
    await call('PATCH', `${path}/${signed.id}`, change)
  }
  const [latest, earlier] = (await call('GET', `/api/audit?entity_id=${signed.id}`)).json<AuditRecord[]>()
  assert.deepEqual(
    [earlier?.before, earlier?.after],
    [
      { has_secret: true, secret: 'as before' },
      { has_secret: false, secret: 'changed' },
    ],
  )
  assert.deepEqual(latest?.after, { has_secret: true, secret: 'changed' })
  await call('DELETE', `${path}/${signed.id}`)

  const shown: string[] = [added.text, patched.text]
  for (const token of [ADMIN, VIEWER]) {
    const listed = await call('GET', path, undefined, token)
    const channels = await call('GET', '/api/channels', undefined, token)
    const audit = await call('GET', '/api/audit', undefined, token)
    assert.equal(listed.json<OwnChannelRecord[]>().length, 2)
    for (const { fingerprint, endpoint } of token === VIEWER ? listed.json<OwnChannelRecord[]>() : []) {
      assert.deepEqual([fingerprint, endpoint], [null, null])
    }
    assert.doesNotMatch(audit.text, /fingerprint/)
    assert.ok(channels.json<ChannelList>().channels.some(({ channel: key }) => key === channel.channel))
    assert.ok(audit.json<AuditRecord[]>().some(({ action }) => action === 'channel.create'))
    shown.push(listed.text, channels.text, audit.text)
    if (token === VIEWER) {
      assert.deepEqual(
        listed.json<OwnChannelRecord[]>().map(({ address }) => address),
        [null, null],
      )
      assert.ok(!audit.text.includes('x.example'), 'viewers see no addresses')
      assert.ok(!audit.text.includes(api.hookUrl), 'nor where else a service is')
    }
  }
  for (const text of shown) for (const hidden of [KEY, SECRET, '/token']) assert.ok(!text.includes(hidden), hidden)

  const REFUSED = [
    [400, 'POST', path, { kind: 'pagerduty', name: 'x', address: 'short' }],
    [400, 'POST', path, { kind: 'pagerduty', name: 'x', address: KEY, secret: SECRET }],
    [400, 'POST', path, { kind: 'chat', name: 'x', address: 'no address' }],
    [400, 'POST', path, { kind: 'email', name: 'x', address: 'no address' }],
    [400, 'POST', path, { kind: 'pigeon', name: 'x', address: KEY }],
    [400, 'PATCH', own, { endpoint: 'https://x.example' }],
    [404, 'PATCH', `/api/clients/${other.id}/channels/${channel.id}`, { name: 'x' }],
    [404, 'DELETE', `/api/clients/${other.id}/channels/${channel.id}`, undefined],
    [404, 'POST', `/api/clients/${other.id}/channels/${channel.id}/test`, undefined],
    [404, 'GET', `/api/clients/${MISSING}/channels`, undefined],
  ] as const
  for (const [status, method, at, body] of REFUSED) {
    assert.equal((await call(method, at, body)).status, status, `${method} ${JSON.stringify(body)}`)
  }
  assert.equal((await call('POST', path, { kind: 'chat', name: 'x', address: api.hookUrl }, VIEWER)).status, 403)
  assert.equal((await call('PATCH', own, { is_active: false })).status, 200)
  const off = await call('POST', `${own}/test`)
  assert.equal(off.status, 409)
  assert.match(off.text, /the channel is switched off/)
  assert.equal((await call('DELETE', own)).status, 204)
  assert.equal((await call('GET', path)).json<OwnChannelRecord[]>().length, 1)
  assert.equal((await call('DELETE', `/api/clients/${client.id}`)).status, 204)
  for (const table of ['client_channels', 'channels'] as const) {
    assert.deepEqual(await api.store.read.selectFrom(table).selectAll().execute(), [], table)
  }
})

testPerEngine(
  'a client has twenty channels at most',
  async (engine, t) => {
    const { add, path, call, hookUrl } = await watchedServer(t, engine)
    for (let n = 0; n < 20; n++) await add({ kind: 'chat', name: `${n}`, address: `${hookUrl}/${n}` })
    assert.equal((await call('POST', path, { kind: 'chat', name: 'x', address: hookUrl })).status, 409)
  },
  logicEngines,
)
