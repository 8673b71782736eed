import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { OnCallRecord, OverrideRecord, OwnChannelRecord } from '../../../src/notifications/index.ts'
import { bearer } from '../../../testkit/api.ts'
import { newClock } from '../../../testkit/clock.ts'
import { logicEngines, placeFor, type TestEngine, testPerEngine } from '../../../testkit/engines.ts'
import { startTestService } from '../../../testkit/service.ts'

const ADMIN = 'admin-token-0123456789'
const VIEWER = 'viewer-token-0123456789'
const MISSING = '00000000-0000-4000-8000-000000000000'

const PLAN = {
  people: [{ name: ' Ada ', email: 'ada@acme.example' }, { name: 'Grace' }],
  timezone: 'Europe/Berlin',
  handover_weekday: 1,
  handover_time: '09:00',
  starts_on: '2026-11-16',
  escalate_after_minutes: 15,
}

async function start(engine: TestEngine, t: TestContext) {
  const api = await startTestService(t, newClock(), await placeFor(engine, t))
  const client = await api.newClient()
  const path = `/api/clients/${client.id}/on-call`
  const refused = async (status: number, method: string, url: string, body?: object) => {
    const answer = await api.call(method, url, body)
    assert.equal(answer.status, status, answer.text)
    return answer.json<{ details: { path: string; message: string }[] }>().details
  }
  return { api, client, path, refused }
}

testPerEngine(
  'a rotation is set, read, changed and deleted',
  async (engine, t) => {
    const { api, path, refused } = await start(engine, t)
    assert.deepEqual(await api.ask('GET', path), { rotation: null, overrides: [], now: null, next: null })
    const made = await api.ask<OnCallRecord>('POST', path, PLAN)
    const [ada, grace] = made.rotation?.people ?? []
    assert.deepEqual(made.rotation, {
      ...PLAN,
      people: [
        { id: ada?.id, name: 'Ada', email: 'ada@acme.example', channel_id: null },
        { id: grace?.id, name: 'Grace', email: null, channel_id: null },
      ],
    })
    assert.deepEqual(made.now, {
      person_id: ada?.id,
      name: 'Ada',
      until: '2026-11-23T08:00:00.000Z',
      is_override: false,
    })
    assert.equal(made.next?.name, 'Grace')
    assert.deepEqual(await api.ask('GET', path), made)

    const people = [{ id: grace?.id, name: 'Grace H' }, { name: 'Mary' }]
    const changed = await api.ask<OnCallRecord>('POST', path, { ...PLAN, people, escalate_after_minutes: null })
    assert.deepEqual(
      changed.rotation?.people.map(({ name }) => name),
      ['Grace H', 'Mary'],
    )
    assert.equal(changed.rotation?.people[0]?.id, grace?.id)
    await api.ask('DELETE', path)
    await refused(404, 'DELETE', path)
    const actions = (await api.ask<{ action: string }[]>('GET', '/api/audit')).map(({ action }) => action)
    assert.deepEqual(actions.slice(0, 3), ['on_call.delete', 'on_call.update', 'on_call.create'])
  },
  logicEngines,
)

testPerEngine(
  'what is done to a rotation and its overrides stands in the audit of its client',
  async (engine, t) => {
    const { api, client, path } = await start(engine, t)
    const [ada] = (await api.ask<OnCallRecord>('POST', path, PLAN)).rotation?.people ?? []
    const times = { starts_at: '2026-11-24T08:00:00Z', ends_at: '2026-11-25T08:00:00Z' }
    const override = await api.ask<{ id: string }>('POST', `${path}/overrides`, { person_id: ada?.id, ...times })
    await api.ask('DELETE', `${path}/overrides/${override.id}`)
    await api.ask('DELETE', path)
    const entries = await api.ask<{ action: string }[]>('GET', `/api/audit?client_id=${client.id}`)
    assert.deepEqual(
      entries.slice(0, 4).map(({ action }) => action),
      ['on_call.delete', 'on_call_override.delete', 'on_call_override.create', 'on_call.create'],
    )
  },
  logicEngines,
)

testPerEngine(
  'what is wrong with a rotation is named',
  async (engine, t) => {
    const { api, path, refused } = await start(engine, t)
    const [ada] = (await api.ask<OnCallRecord>('POST', path, PLAN)).rotation?.people ?? []
    const faults: [object, string, string][] = [
      [{ people: [] }, '/people', 'must have at least 1 entry'],
      [{ timezone: 'Mars/Olympus' }, '/timezone', 'must be an IANA time zone like Europe/Berlin'],
      [{ handover_time: '9:00' }, '/handover_time', 'must be a local time like 09:00'],
      [
        { people: [{ name: 'A', id: MISSING }] },
        '/people/0/id',
        'is not the id of a person in the rotation: leave it out',
      ],
      [
        {
          people: [
            { name: 'A', id: ada?.id },
            { name: 'B', id: ada?.id },
          ],
        },
        '/people/1/id',
        'is given twice',
      ],
      [
        { people: [{ name: 'A', channel_id: MISSING }] },
        '/people/0/channel_id',
        'is not the id of a channel of this client',
      ],
      [{ people: [{ name: 'A', email: 'nobody' }] }, '/people/0/email', 'must be an e-mail address'],
    ]
    for (const [over, place, message] of faults) {
      const [first] = await refused(400, 'POST', path, { ...PLAN, ...over })
      assert.deepEqual([first?.path, first?.message], [place, message])
    }
    await refused(404, 'GET', `/api/clients/${MISSING}/on-call`)
    await refused(404, 'POST', `/api/clients/${MISSING}/on-call`, PLAN)
  },
  logicEngines,
)

testPerEngine('someone stands in until that is over, deleted or the person leaves', async (engine, t) => {
  const { api, path, refused } = await start(engine, t)
  const [ada, grace] = (await api.ask<OnCallRecord>('POST', path, PLAN)).rotation?.people ?? []
  const body = { person_id: grace?.id, starts_at: '2026-11-20T08:00:00.000Z', ends_at: '2026-11-21T08:00:00.000Z' }
  const override = await api.ask<OverrideRecord>('POST', `${path}/overrides`, body)
  const seen = await api.ask<OnCallRecord>('GET', path)
  assert.deepEqual([seen.now?.name, seen.now?.is_override, seen.now?.until], ['Grace', true, body.ends_at])
  assert.deepEqual(seen.overrides, [override])
  for (const [over, place] of [
    [{ person_id: MISSING }, '/person_id'],
    [{ ends_at: body.starts_at }, '/ends_at'],
    [{ starts_at: '2026-11-01T08:00:00.000Z', ends_at: '2026-11-02T08:00:00.000Z' }, '/ends_at'],
    [{ ends_at: '2028-11-02T08:00:00.000Z' }, '/ends_at'],
  ] as const) {
    assert.equal((await refused(400, 'POST', `${path}/overrides`, { ...body, ...over }))[0]?.path, place)
  }
  await api.ask('DELETE', `${path}/overrides/${override.id}`)
  await refused(404, 'DELETE', `${path}/overrides/${override.id}`)
  await api.ask('POST', `${path}/overrides`, body)
  const left = await api.ask<OnCallRecord>('POST', path, { ...PLAN, people: [{ id: ada?.id, name: 'Ada' }] })
  assert.deepEqual([left.overrides, left.now?.name, left.now?.until], [[], 'Ada', null])
})

testPerEngine('a person has a channel of the client, and a deleted client leaves nothing', async (engine, t) => {
  const { api, client, path } = await start(engine, t)
  const channel = { kind: 'webhook', name: 'Pager', address: 'https://pager.example/x' }
  const { id } = await api.ask<OwnChannelRecord>('POST', `/api/clients/${client.id}/channels`, channel)
  const people = [{ name: 'Ada', channel_id: id }]
  const made = await api.ask<OnCallRecord>('POST', path, { ...PLAN, people })
  assert.equal(made.rotation?.people[0]?.channel_id, id)
  await api.ask('DELETE', `/api/clients/${client.id}`)
  const { store } = api.service
  for (const table of ['on_call_rotations', 'on_call_overrides'] as const) {
    assert.deepEqual(await store.read.selectFrom(table).selectAll().execute(), [])
  }
})

testPerEngine(
  'a viewer sees who is on call, and no address',
  async (engine, t) => {
    const environment = { ...(await placeFor(engine, t)), ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER }
    const api = await startTestService(t, newClock(), environment)
    const client = (await api.call('POST', '/api/clients', { name: 'Acme' }, bearer(ADMIN))).json<{ id: string }>()
    const path = `/api/clients/${client.id}/on-call`
    assert.equal((await api.call('POST', path, PLAN, bearer(ADMIN))).status, 200)
    const seen = await api.call('GET', path, undefined, bearer(VIEWER))
    assert.equal(seen.json<OnCallRecord>().now?.name, 'Ada')
    const audit = await api.call('GET', '/api/audit', undefined, bearer(VIEWER))
    for (const { text } of [seen, audit]) assert.ok(!text.includes('ada@acme.example'))
    assert.equal((await api.call('POST', path, PLAN, bearer(VIEWER))).status, 403)
  },
  logicEngines,
)
