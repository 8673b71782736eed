import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HOUR, MINUTE, newOrderedId } from '../../src/lib/index.ts'
import { type ProbeOutcome, SUBJECTS_MAX, type Subject, subjectKey } from '../../src/probes/index.ts'
import type { AlertRow, ProbeRow, Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { DELIVERED, openNode } from '../notifications/support.ts'
import { probeRow, typeOf } from '../probes/support.ts'
import { alertRows, outbox, timeline, watch } from './support.ts'

/** What is bad in a result: tags (or whole subjects) with a severity and since when, or `error`. */
type Bad = Readonly<Record<string, 'warning' | 'critical'>> | 'error'

/** A probe that judges tags one by one, as the test says. */
async function watchTags(t: TestContext, store: Store, probe: Partial<ProbeRow> = {}) {
  let bad: Bad = {}
  let startedAt: number | null = null
  const type = typeOf(async () => outcomeOf(bad, startedAt))
  const seen = await watch(t, store, probe, { type })
  return {
    ...seen,
    /** One run that finds this. */
    findBad: async (now: Bad, since: number | null = null) => {
      bad = now
      startedAt = since
      await seen.find('o')
    },
  }
}

function outcomeOf(bad: Bad, startedAt: number | null): ProbeOutcome {
  if (bad === 'error') return { status: 'error', message: 'cannot judge', details: {} }
  const findings = Object.entries(bad).map(([tag_key, status]) => ({
    subject: tag_key === 'site' ? {} : { tag_key },
    status,
    message: `${tag_key} is ${status}`,
    startedAt,
    details: { findings: [{ subject: tag_key === 'site' ? {} : { tag_key } }] },
  }))
  const status = findings.some((one) => one.status === 'critical') ? 'critical' : findings.length > 0 ? 'warning' : 'ok'
  return { status, message: `${findings.length} bad`, details: {}, findings }
}

const tag = (tag_key: string): string => subjectKey({ tag_key })
const shown = (rows: readonly AlertRow[]) => rows.map(({ subject, state }) => `${subject} ${state}`)
const messages = async (store: Store) => (await outbox(store)).map(({ kind, alert }) => `${kind} ${alert.title}`)

for (const { what, ago, change } of [
  {
    what: 'between the onset and its detection',
    ago: 8 * MINUTE,
    change: '12 min before web container 41 → 42 was seen',
  },
  { what: 'before the onset', ago: 45 * MINUTE, change: '25 min after web container 41 → 42' },
]) {
  testOnEveryEngine(`a deploy ${what} is as far away as from the onset`, async (store, t) => {
    const { findBad, site, clock } = await watchTags(t, store)
    const detected = clock.now() + MINUTE
    const at = detected - ago
    const marker = { site_id: site.id, source: 'web container', from_version: '41', to_version: '42', details: '{}' }
    await store.write
      .insertInto('deploy_markers')
      .values({ ...marker, id: newOrderedId(at), at })
      .execute()
    const onset = detected - 20 * MINUTE
    await findBad({ Meta: 'critical' }, onset)
    const [message] = await outbox(store)
    assert.deepEqual([message?.alert.since, message?.alert.opened_at], [onset, detected])
    assert.equal(message?.change, change)
  })
}

testOnEveryEngine(
  'a second tag that breaks while the first is open sends its own message, and each resolves separately',
  async (store, t) => {
    const { findBad } = await watchTags(t, store)
    await findBad({ Meta: 'critical' })
    await findBad({ Meta: 'critical', GA4: 'warning' })
    assert.deepEqual(shown(await alertRows(store)), [`${tag('Meta')} open`, `${tag('GA4')} open`])
    await findBad({ GA4: 'warning' })
    assert.deepEqual(shown(await alertRows(store)), [`${tag('Meta')} resolved`, `${tag('GA4')} open`])
    await findBad({})
    assert.deepEqual(await messages(store), [
      'opened Meta is critical',
      'opened GA4 is warning',
      'resolved Meta is critical',
      'resolved GA4 is warning',
    ])
    const [meta] = await alertRows(store)
    assert.deepEqual([meta?.subject_label, meta?.severity, meta?.occurrences], ['Meta', 'critical', 2])
  },
)

testLogic('thresholds count the results of each tag separately', async (store, t) => {
  const { findBad, probe } = await watchTags(t, store, { failure_threshold: 3, recovery_threshold: 2 })
  await findBad({ Meta: 'critical' })
  await findBad({ Meta: 'critical', GA4: 'critical' })
  await findBad({ GA4: 'critical' })
  assert.deepEqual(await messages(store), [], 'two in a row of each, three of the probe')
  await findBad({ GA4: 'critical' })
  assert.deepEqual(await messages(store), ['opened GA4 is critical'])
  await findBad({})
  assert.equal((await alertRows(store)).find(({ subject }) => subject === tag('GA4'))?.state, 'open')
  await findBad({})
  assert.deepEqual(shown(await alertRows(store)), [`${tag('Meta')} resolved`, `${tag('GA4')} resolved`])
  for (let n = 0; n < 20; n++) await findBad({})
  assert.equal((await probeRow(store, probe.id)).subject_statuses, '{}', 'nothing is kept of what is fine')
})

testLogic('a tag that flaps leaves the others alone', async (store, t) => {
  const { findBad } = await watchTags(t, store)
  for (let n = 0; n < 3; n++) {
    await findBad({ Meta: 'critical', GA4: 'critical' })
    await findBad({ GA4: 'critical' })
  }
  const rows = await alertRows(store)
  const flapping = rows.filter(({ is_flapping }) => is_flapping === 1).map(({ subject }) => subject)
  assert.deepEqual(flapping, [tag('Meta')])
})

testLogic('a result that judged nothing changes nothing', async (store, t) => {
  const { findBad } = await watchTags(t, store, { recovery_threshold: 2 })
  await findBad({ Meta: 'critical' })
  await findBad({})
  await findBad('error')
  assert.deepEqual(shown(await alertRows(store)), [`${tag('Meta')} open`])
  await findBad({})
  assert.deepEqual(shown(await alertRows(store)), [`${tag('Meta')} resolved`])
})

testLogic('what began says since when, and stays by it', async (store, t) => {
  const { findBad, clock } = await watchTags(t, store)
  const since = clock.now() - 8 * MINUTE
  await findBad({ Meta: 'critical' }, since)
  await findBad({ Meta: 'critical' }, since - HOUR)
  const [alert] = await alertRows(store)
  assert.deepEqual([alert?.started_at, alert?.opened_at], [since, clock.now() - MINUTE])
  const [message] = await outbox(store)
  assert.equal(message?.alert.since, since)
})

testOnEveryEngine('without a time of its own it began with the first bad result of the streak', async (store, t) => {
  const { find, clock } = await watch(t, store)
  await find('oc')
  const began = clock.now()
  await store.write.updateTable('alerts').set({ state: 'resolved', resolution: 'manual' }).execute()
  await find('ec')
  const [, again] = await alertRows(store)
  assert.deepEqual([again?.started_at, again?.opened_at], [began, clock.now()])
  await find('o')
  await find('eee')
  const check = (await alertRows(store)).find(({ subject }) => subject === 'check')
  assert.deepEqual([check?.started_at, check?.opened_at], [clock.now() - 2 * MINUTE, clock.now()])
})

testLogic('a site with more broken tags than can be kept apart sums up the rest', async (store, t) => {
  const { findBad } = await watchTags(t, store)
  const names = Array.from({ length: SUBJECTS_MAX + 30 }, (_, n) => `tag ${n}`)
  const all = (given: readonly string[]) => Object.fromEntries(given.map((name) => [name, 'critical' as const]))
  await findBad(all(names))
  const rows = await alertRows(store)
  assert.equal(rows.length, SUBJECTS_MAX + 1)
  const rest = rows.find(({ subject }) => subject === 'others')
  assert.deepEqual([rest?.subject_label, rest?.title], ['30 more', '30 more are bad, the worst: tag 100 is critical'])
  await findBad(all(names.slice(0, SUBJECTS_MAX)))
  assert.deepEqual(
    (await alertRows(store)).filter(({ state }) => state === 'resolved').map(({ subject }) => subject),
    ['others'],
  )
})

testOnEveryEngine('twelve tags that break, and twelve reminders, are one message each', async (store, t) => {
  const { findBad, site, clock, upkeep } = await watchTags(t, store)
  await store.write.updateTable('clients').set({ reminder_minutes: 30 }).where('id', '=', site.client_id).execute()
  await findBad(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`tag ${n}`, 'warning' as const])))
  clock.advance(30 * MINUTE)
  await upkeep()
  await store.write.updateTable('deliveries').set({ state: 'pending', delivered_at: null }).execute()
  const globalWebhook = 'https://hooks.example/all'
  const node = await openNode(t, store, clock, () => DELIVERED, { globalWebhook })
  clock.advance(MINUTE)
  await node.notifications.run()
  await node.notifications.run()
  assert.deepEqual(
    node.sent.map(({ text }) => `${text.split(' ')[0]} ${text.split('+').length}`),
    ['opened 12', 'reminder 12'],
  )
})

testOnEveryEngine('names of any length and script have keys that the store takes', async (store, t) => {
  const { findBad } = await watchTags(t, store)
  const names = ['"', 'a,event:"b"', '数'.repeat(200), `${'😀'.repeat(99)}\0`, `x${'\u0001'.repeat(199)}`]
  await findBad(Object.fromEntries(names.map((name) => [name, 'critical' as const])))
  await findBad(Object.fromEntries(names.map((name) => [name, 'critical' as const])))
  const rows = await alertRows(store)
  assert.equal(new Set(rows.map(({ subject }) => subject)).size, names.length)
  assert.deepEqual(
    rows.map(({ occurrences }) => occurrences),
    names.map(() => 2),
  )
})

/** An alert as earlier versions left it: one for all that the probe found. */
async function insertOld(
  store: Store,
  { site, probe }: Awaited<ReturnType<typeof watchTags>>,
  at: number,
  subject: Subject | null,
): Promise<AlertRow> {
  return insertAlert(store, site, at, {
    probe_id: probe.id,
    probe_type: probe.probe_type,
    details: JSON.stringify(subject === null ? { reason: 'details_too_long' } : { findings: [{ subject }] }),
    confirmed_at: at,
    announced_at: at,
    last_announced_at: at,
    first_notified_at: at,
    last_notified_at: at,
    notified_severity: 'critical',
  })
}

testOnEveryEngine('the alert of an earlier version becomes that of the tag that it names', async (store, t) => {
  const watched = await watchTags(t, store)
  const { findBad, clock } = watched
  const old = await insertOld(store, watched, clock.now() - HOUR, { tag_key: 'Meta', event_name: 'purchase' })
  await findBad({ Meta: 'critical', GA4: 'critical' })
  const rows = await alertRows(store)
  assert.deepEqual(shown(rows), [`${tag('Meta')} open`, `${tag('GA4')} open`])
  assert.deepEqual([rows[0]?.id, rows[0]?.started_at, rows[0]?.occurrences], [old.id, old.started_at, 2])
  assert.deepEqual(await messages(store), ['opened GA4 is critical'])
  await findBad({ GA4: 'critical' })
  assert.deepEqual((await messages(store)).slice(1), ['resolved Meta is critical'])
})

testOnEveryEngine('the alert of an earlier version that names nothing closes without a message', async (store, t) => {
  const watched = await watchTags(t, store)
  const { findBad, clock } = watched
  const old = await insertOld(store, watched, clock.now() - HOUR, null)
  await findBad('error')
  assert.deepEqual(shown(await alertRows(store)), ['target open'], 'an error says nothing')
  await findBad({ GA4: 'warning' })
  const [first, second] = await alertRows(store)
  assert.deepEqual([first?.id, first?.resolution, second?.subject], [old.id, 'replaced', tag('GA4')])
  assert.deepEqual(await messages(store), ['opened GA4 is warning'])
  assert.deepEqual(await timeline(store, old.id), ['resolved'])
})

testLogic('an alert about the site as a whole stays what it was', async (store, t) => {
  const watched = await watchTags(t, store)
  const { findBad, clock } = watched
  const old = await insertOld(store, watched, clock.now() - HOUR, {})
  await findBad({ site: 'critical' })
  assert.deepEqual(shown(await alertRows(store)), ['target open'])
  assert.equal((await alertRows(store))[0]?.id, old.id)
})

testLogic('nothing is bad since before its site was created', async (store, t) => {
  const { findBad, site, clock } = await watchTags(t, store)
  const created_at = clock.now() - 2 * MINUTE
  await store.write.updateTable('sites').set({ created_at }).where('id', '=', site.id).execute()
  // The slot of five minutes that it was created in.
  await findBad({ Meta: 'critical' }, created_at - 3 * MINUTE)
  const [alert] = await alertRows(store)
  assert.equal(alert?.started_at, created_at)
  const incident = await store.read.selectFrom('incidents').select('started_at').executeTakeFirst()
  assert.equal(incident?.started_at, created_at)
})
