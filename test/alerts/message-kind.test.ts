import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { kindFor, type Listener, type News } from '../../src/alerts/message-kind.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import { setOnCall } from '../../src/notifications/on-call/on-call.ts'
import type { ProbeOutcome, ResultStatus } from '../../src/probes/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { typeOf } from '../probes/support.ts'
import { outbox, watch } from './support.ts'

const WORSE: News = { kind: 'escalated' }
const WORSE_AND_FOUND: News = { kind: 'escalated', otherwise: 'explained' }
const BOTH = ['warning', 'critical'] as const

/** What a channel gets: of a client that wants escalations, and of one that does not. */
const TABLE: readonly (readonly [News, takes: boolean, Listener['knows'], ...gets: (string | null)[]])[] = [
  [{ kind: 'opened' }, true, 'nothing', 'opened', 'opened'],
  [{ kind: 'opened' }, false, 'nothing', null, null],
  [{ kind: 'explained' }, true, 'open', 'explained', 'explained'],
  [{ kind: 'explained' }, false, 'open', null, null],
  [WORSE, true, 'nothing', 'escalated', 'escalated'],
  [WORSE, true, 'open', 'escalated', null],
  [WORSE, true, 'critical', null, null],
  [WORSE, false, 'nothing', null, null],
  [WORSE_AND_FOUND, true, 'nothing', 'escalated', 'escalated'],
  [WORSE_AND_FOUND, true, 'open', 'escalated', 'explained'],
  [WORSE_AND_FOUND, true, 'critical', 'explained', 'explained'],
  [{ kind: 'resolved' }, true, 'nothing', null, null],
  [{ kind: 'resolved' }, false, 'open', 'resolved', 'resolved'],
  [{ kind: 'acknowledged' }, false, 'critical', 'acknowledged', 'acknowledged'],
]

for (const [news, takesSeverity, knows, ...gets] of TABLE) {
  const what = news.otherwise === undefined ? news.kind : `${news.kind}, or else ${news.otherwise},`
  const channel = `a channel that knows ${knows} and ${takesSeverity ? 'takes' : 'does not take'} its severity`
  test(`${what} is ${gets.join(' or, without escalations, ')} to ${channel}`, () => {
    const found = [true, false].map((wantsEscalations) => kindFor(news, { takesSeverity, wantsEscalations, knows }))
    assert.deepEqual(found, gets)
  })
}

/** A site with probes of these types, whose client wants no escalations and has a channel for all alerts and one for critical alerts. */
async function watchTypes(t: TestContext, store: Store, names: readonly string[], warningsAfterMs = 0) {
  const found = new Map<string, ResultStatus>()
  const outcome = (name: string) => async (): Promise<ProbeOutcome> => {
    const status = found.get(name) ?? 'ok'
    return { status, message: `${name} ${status}`, details: {} }
  }
  const [first = '', ...others] = names
  const types = names.map((name) => typeOf(outcome(name), { name }))
  const channelSettings = { globalWebhook: null, isEmailOn: true, warningsAfterMs }
  const seen = await watch(
    t,
    store,
    { probe_type: first, recovery_threshold: 2 },
    {
      ...{ type: types, channelSettings, delivers: warningsAfterMs === 0 },
    },
  )
  for (const probe_type of others) await insertProbe(store, seen.site.id, { probe_type })
  const { client_id } = seen.site
  await store.write.updateTable('clients').set({ notify_escalated: 0 }).execute()
  const channels = BOTH.map((minimum_severity) => ({
    ...{ id: minimum_severity, name: minimum_severity, minimum_severity, client_id, is_active: 1, created_at: 0 },
    ...{ kind: 'webhook', address: `https://hooks.example/${minimum_severity}` },
  }))
  await store.write.insertInto('client_channels').values(channels).execute()
  return {
    ...seen,
    run: async (results: Readonly<Record<string, ResultStatus>>) => {
      for (const [name, status] of Object.entries(results)) found.set(name, status)
      await seen.find('o')
    },
    /** What was written for the channel, without its notes. */
    said: async (severity: (typeof BOTH)[number]) =>
      (await outbox(store)).flatMap(({ channel, kind, alert }) =>
        channel.endsWith(severity) ? `${kind} ${alert.severity} ${alert.title}` : [],
      ),
  }
}

testOnEveryEngine(
  'a late cause that is critical is a cause found where no escalations are wanted, and an opening for critical alerts',
  async (store, t) => {
    const { run, said } = await watchTypes(t, store, ['cmp_check', 'http_health'])
    await run({ cmp_check: 'warning' })
    await run({ http_health: 'critical' })
    assert.deepEqual(await said('warning'), [
      'opened warning cmp_check warning',
      'explained critical http_health critical',
    ])
    assert.deepEqual(await said('critical'), ['escalated critical http_health critical'])
    const notes = (await outbox(store)).flatMap(({ incident }) => incident?.note ?? [])
    assert.deepEqual([...new Set(notes)], ['Cause found: “http_health critical”'])
    await run({ http_health: 'ok', cmp_check: 'ok' })
    await run({})
    for (const severity of BOTH) assert.match((await said(severity)).at(-1) ?? '', /^resolved critical/)
  },
)

for (const [isWanted, kind] of [
  [1, 'escalated'],
  [0, 'explained'],
] as const) {
  testOnEveryEngine(
    `a warning found as the cause when its symptom becomes critical is said in one message, as ${kind}`,
    async (store, t) => {
      const { run, said } = await watchTypes(t, store, ['cmp_check', 'http_health'])
      await store.write.updateTable('clients').set({ notify_escalated: isWanted }).execute()
      await run({ cmp_check: 'warning' })
      await run({ http_health: 'warning', cmp_check: 'critical' })
      assert.deepEqual(await said('warning'), [
        'opened warning cmp_check warning',
        `${kind} critical http_health warning`,
      ])
      const notes = (await outbox(store)).flatMap(({ incident }) => incident?.note ?? [])
      assert.deepEqual([...new Set(notes)], ['Cause found: “http_health warning”'])
      assert.deepEqual(await said('critical'), ['escalated critical http_health warning'])
    },
  )
}

testOnEveryEngine(
  'a warning found as the cause together with another that is critical is said in one message',
  async (store, t) => {
    const { run, said } = await watchTypes(t, store, ['cmp_check', 'http_health', 'tag_failure_rate'])
    await store.write.updateTable('clients').set({ notify_escalated: 1 }).execute()
    await run({ cmp_check: 'warning' })
    await run({ http_health: 'warning', tag_failure_rate: 'critical' })
    assert.deepEqual(await said('warning'), [
      'opened warning cmp_check warning',
      'escalated critical http_health warning',
    ])
  },
)

testLogic('what becomes critical as it begins to flap flaps where no escalations are wanted', async (store, t) => {
  const { run, said } = await watchTypes(t, store, ['http_health'])
  for (const status of ['warning', 'ok', 'warning', 'ok', 'critical'] as const) await run({ http_health: status })
  assert.deepEqual(await said('warning'), [
    'opened warning http_health warning',
    'flapping critical http_health critical',
  ])
  assert.deepEqual(await said('critical'), ['escalated critical http_health critical'])
})

testOnEveryEngine(
  'a warning that waits for the next on call reaches who is on call when it becomes critical, without escalations too',
  async (store, t) => {
    const seen = await watchTypes(t, store, ['http_health'], HOUR)
    const { clock, site, run } = seen
    // 10:30: after Ada's week.
    const people = ['Ada', 'Grace'].map((name) => ({ name, email: `${name.toLowerCase()}@acme.example` }))
    const plan = { people, timezone: 'UTC', handover_weekday: 5, handover_time: '10:30', starts_on: '2026-11-13' }
    const ctx = { store, clock, actor: 'admin' }
    const { rotation } = await setOnCall(ctx, site.client_id, { ...plan, escalate_after_minutes: null })
    const names = new Map(rotation.people.map(({ id, name }) => [`own:${site.client_id}:${id}`, name]))
    clock.set('2026-11-20T10:00:00Z')
    await run({ http_health: 'warning' })
    clock.advance(5 * MINUTE)
    await run({ http_health: 'critical' })
    const toPeople = (await outbox(store)).flatMap(({ channel, kind, alert }) =>
      names.has(channel) ? `${names.get(channel)} ${kind} ${alert.severity}` : [],
    )
    assert.deepEqual(toPeople.toSorted(), ['Ada escalated critical', 'Grace opened critical'])
  },
)

for (const [isWanted, kind] of [
  [1, 'escalated'],
  [0, 'explained'],
] as const) {
  testOnEveryEngine(
    `a critical cause found for what others knew as critical is ${kind} to a channel that was told of a warning only`,
    async (store, t) => {
      const { run, said } = await watchTypes(t, store, ['cmp_check', 'http_health'])
      await store.write.updateTable('clients').set({ notify_escalated: isWanted }).execute()
      await run({ cmp_check: 'critical' })
      const late = store.write.selectFrom('deliveries').select(['id', 'message']).where('channel', 'like', '%:warning')
      const { id, message } = await late.executeTakeFirstOrThrow()
      const told = message.replace('"severity":"critical"', '"severity":"warning"')
      assert.notEqual(told, message)
      await store.write.updateTable('deliveries').set({ message: told }).where('id', '=', id).execute()
      await run({ cmp_check: 'warning' })
      await run({ http_health: 'critical' })
      await run({ http_health: 'critical' })
      assert.deepEqual(await said('warning'), [
        'opened warning cmp_check critical',
        `${kind} critical http_health critical`,
      ])
      assert.deepEqual(await said('critical'), [
        'opened critical cmp_check critical',
        'explained critical http_health critical',
      ])
    },
  )
}
