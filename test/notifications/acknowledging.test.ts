import assert from 'node:assert/strict'
import { GATHER_MS } from '../../src/notifications/index.ts'
import { logicEngines, testPerEngine } from '../../testkit/engines.ts'
import { watchedServer } from './watched-server.ts'
import type { Received } from './webhook-server.ts'

const KEY = 'R0123456789abcdef0123456789abcdef'

/** No service takes the next message later. */
const PACE_MS = 1_000

type Fields = Readonly<Record<string, unknown>>

/** What PagerDuty makes of its requests: the state of each incident, by its key. It knows nothing of a key that it was never sent. */
function pagerDuty(received: readonly Received[]): string[] {
  const states = new Map<string, string[]>()
  for (const { path, body } of received) {
    if (!path.endsWith('/v2/enqueue')) continue
    const { routing_key, dedup_key, event_action, payload } = JSON.parse(body) as Fields
    assert.equal(routing_key, KEY)
    const known = states.get(String(dedup_key))
    if (event_action === 'trigger') assert.ok(payload !== undefined, 'a trigger says what it is about')
    else assert.ok(known !== undefined, `${event_action} of what was never triggered`)
    assert.ok(known?.at(-1) !== 'resolve', `${event_action} of what is resolved`)
    states.set(String(dedup_key), [...(known ?? []), String(event_action)])
  }
  return [...states.values()].map((actions) => actions.join(' '))
}

/** The same of Opsgenie, or Jira, under `root`: what was done to each alert, by its alias, and by whom. */
function opsgenie(received: readonly Received[], root: string): string[] {
  const states = new Map<string, string[]>()
  for (const { path, headers, body } of received) {
    const [, rest] = path.split(`${root}/v2/alerts`)
    if (rest === undefined) continue
    assert.equal(headers.authorization, `GenieKey ${KEY}`)
    const { alias, user, note } = JSON.parse(body) as Fields
    const action = /^\/([^/?]+)\/([a-z]+)\?identifierType=alias$/.exec(rest)
    const key = action === null ? String(alias) : decodeURIComponent(action[1] ?? '')
    assert.ok(action === null || states.has(key), `${action?.[2]} of what is not there`)
    const who = user === undefined ? '' : ` (${user}, “${note}”)`
    states.set(key, [...(states.get(key) ?? []), `${action?.[2] ?? 'create'}${who}`])
  }
  return [...states.values()].map((actions) => actions.join(' '))
}

async function onCall(...[t, engine]: Parameters<typeof watchedServer>) {
  const server = await watchedServer(t, engine)
  const { add, hookUrl, call, clock, service, run, received } = server
  await add({ kind: 'pagerduty', name: 'On call', address: KEY, endpoint: `${hookUrl}/v2/enqueue` })
  return {
    ...server,
    incidentPath: async () => {
      const [incident] = (await call('GET', '/api/incidents')).json<{ id: string }[]>()
      return `/api/incidents/${incident?.id}`
    },
    /** What is written goes out, without what waits for others. */
    send: async (ms = PACE_MS) => {
      clock.advance(ms)
      await service.membership.beat()
      await run()
    },
    toChat: () =>
      received.flatMap(({ path, body }) =>
        path.endsWith('/chat') ? (JSON.parse(body) as { event: string }).event : [],
      ),
  }
}

testPerEngine(
  'who takes care of an incident, or no longer does, is known at PagerDuty, Opsgenie and Jira, and nowhere else',
  async (engine, t) => {
    const { add, hookUrl, call, find, received, incidentPath, send, toChat } = await onCall(t, engine)
    await add({ kind: 'opsgenie', name: 'Opsgenie', address: KEY, endpoint: `${hookUrl}/og` })
    await add({ kind: 'opsgenie', name: 'Jira', address: KEY, endpoint: `${hookUrl}/jsm/ops/integration` })
    await add({ kind: 'webhook', name: 'Chat', address: `${hookUrl}/chat` })
    await find(503)
    const path = await incidentPath()
    const handle = async (verb: string, body: object) => {
      assert.equal((await call('POST', `${path}/${verb}`, body)).status, 200, verb)
      await send(verb === 'resolve' ? 3 * GATHER_MS : PACE_MS)
    }
    await handle('acknowledge', { by: 'Ada', comment: 'I look at it' })
    await handle('acknowledge', { by: 'Ben' })
    await handle('unacknowledge', { by: 'Ada' })
    await handle('acknowledge', { by: 'Ben' })
    await handle('resolve', { by: 'Ben' })
    assert.deepEqual(pagerDuty(received), ['trigger acknowledge acknowledge resolve'])
    const first = 'create acknowledge (Ada, “Acknowledged by Ada: I look at it”)'
    const back = '(Ada, “No longer acknowledged by Ada”)'
    const last = 'acknowledge (Ben, “Acknowledged by Ben”) close'
    assert.deepEqual(opsgenie(received, '/og'), [`${first} unacknowledge ${back} ${last}`])
    assert.deepEqual(opsgenie(received, '/jsm/ops/integration'), [`${first} notes ${back} ${last}`])
    assert.deepEqual(toChat(), ['opened', 'resolved'])
    const { timeline } = (await call('GET', path)).json<{ timeline: { kind: string; text: string }[] }>()
    assert.ok(timeline.some(({ text }) => text === 'Notified: acknowledged, by PagerDuty'))
  },
  logicEngines,
)

testPerEngine(
  'what becomes critical is opened again at Jira, which pages no one for an issue it has, and all issues are closed',
  async (engine, t) => {
    const { add, hookUrl, call, find, received, incidentPath, send } = await onCall(t, engine)
    await add({ kind: 'opsgenie', name: 'Jira', address: KEY, endpoint: `${hookUrl}/jira` })
    await find(200, '<html>another server</html>')
    const path = await incidentPath()
    assert.equal((await call('POST', `${path}/acknowledge`, { by: 'Ada' })).status, 200)
    await send()
    await find(503)
    await find(503)
    const priorities = received.flatMap(({ path: to, body }) =>
      to.endsWith('/jira/v2/alerts') ? (JSON.parse(body) as Fields).priority : [],
    )
    assert.deepEqual(priorities, ['P3', 'P1'])
    assert.equal((await call('POST', `${path}/unacknowledge`, { by: 'Ada' })).status, 200)
    await send()
    assert.equal((await call('POST', `${path}/resolve`, { by: 'Ada' })).status, 200)
    await send(3 * GATHER_MS)
    const back = 'unacknowledge (Ada, “No longer acknowledged by Ada”) close'
    assert.deepEqual(opsgenie(received, '/jira'), [
      `create acknowledge (Ada, “Acknowledged by Ada”) ${back}`,
      `create ${back}`,
    ])
  },
  logicEngines,
)

testPerEngine(
  'acknowledging its alert acknowledges the incident there',
  async (engine, t) => {
    const { call, find, received, send } = await onCall(t, engine)
    await find(503)
    const [alert] = (await call('GET', '/api/alerts')).json<{ id: string }[]>()
    assert.equal((await call('POST', `/api/alerts/${alert?.id}/acknowledge`, { by: 'Ada' })).status, 200)
    await send()
    assert.deepEqual(pagerDuty(received), ['trigger acknowledge'])
  },
  logicEngines,
)

testPerEngine(
  'an acknowledgement overtakes no opening that has not been sent',
  async (engine, t) => {
    const { call, find, received, send, answer, incidentPath } = await onCall(t, engine)
    answer.status = 503
    await find(503)
    assert.equal((await call('POST', `${await incidentPath()}/acknowledge`, {})).status, 200)
    received.length = 0
    answer.status = 200
    await send(60_000)
    await send()
    assert.deepEqual(pagerDuty(received), ['trigger acknowledge'])
  },
  logicEngines,
)

testPerEngine(
  'in quiet hours an acknowledgement or end of what was notified goes out at once, and wakes no one with what was not',
  async (engine, t) => {
    const { call, client, find, received, send, incidentPath } = await onCall(t, engine)
    const warning = '<html>another server</html>'
    await find(200, warning)
    assert.deepEqual(pagerDuty(received), ['trigger'])
    const quiet = { quiet_from: '09:00', quiet_to: '11:00' }
    assert.equal((await call('PATCH', `/api/clients/${client.id}`, quiet)).status, 200)
    assert.equal((await call('POST', `${await incidentPath()}/acknowledge`, {})).status, 200)
    await send()
    assert.deepEqual(pagerDuty(received), ['trigger acknowledge'])
    assert.equal((await call('POST', `${await incidentPath()}/resolve`, {})).status, 200)
    await send(3 * GATHER_MS)
    assert.deepEqual(pagerDuty(received), ['trigger acknowledge resolve'])

    received.length = 0
    await find(200, warning)
    assert.equal((await call('POST', `${await incidentPath()}/acknowledge`, {})).status, 200)
    await send(3 * GATHER_MS)
    assert.deepEqual(received, [], 'its opening waits for the morning, and so does what follows')
  },
)

testPerEngine(
  'a service that keeps incidents receives the end even if people want no message about it',
  async (engine, t) => {
    const { add, hookUrl, call, client, find, received, toChat } = await onCall(t, engine)
    await add({ kind: 'webhook', name: 'Chat', address: `${hookUrl}/chat` })
    assert.equal((await call('PATCH', `/api/clients/${client.id}`, { notify_resolved: false })).status, 200)
    await find(503)
    await find(200)
    assert.deepEqual(pagerDuty(received), ['trigger resolve'])
    assert.deepEqual(toChat(), ['opened'])
  },
)

testPerEngine(
  'an end within a silence closes the incident where one is kept',
  async (engine, t) => {
    const { add, hookUrl, call, client, clock, find, received, toChat } = await onCall(t, engine)
    await add({ kind: 'webhook', name: 'Chat', address: `${hookUrl}/chat` })
    await find(503)
    const silence = { client_id: client.id, ends_at: new Date(clock.now() + 3_600_000).toISOString() }
    assert.equal((await call('POST', '/api/silences', silence)).status, 201)
    await find(200)
    assert.deepEqual(pagerDuty(received), ['trigger resolve'])
    assert.deepEqual(toChat(), ['opened'])
  },
  logicEngines,
)
