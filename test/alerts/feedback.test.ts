import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { clearAlerts } from '../../src/alerts/alerts.ts'
import { DAY, HOUR, isoTime, newId } from '../../src/lib/index.ts'
import type { AlertRow, Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { TestClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

interface Shown {
  takes_feedback: boolean
  feedback: { verdict: string; by: string; at: string } | null
  timeline: { kind: string; actor: string | null; text: string }[]
}

async function start(engine: TestEngine, t: TestContext) {
  const clock = new TestClock(NOW)
  const api = await startTestService(t, clock, await placeFor(engine, t))
  const site = await api.newSite(await api.newClient())
  const { store } = api.service
  const probe = await insertProbe(store, site.id, { probe_type: 'data_volume', next_run_at: NOW + DAY })
  const insert = (over: Partial<AlertRow> = {}) =>
    insertAlert(store, site, NOW - HOUR, { probe_id: probe.id, probe_type: 'data_volume', ...over })
  const give = (id: string, body: object) => api.call('POST', `/api/alerts/${id}/feedback`, body)
  const shown = async (id: string) => (await api.call('GET', `/api/alerts/${id}`)).json<Shown>()
  return { api, clock, store, site, insert, give, shown }
}

const rows = (store: Store) => store.write.selectFrom('alert_feedback').selectAll().orderBy('alert_id').execute()

testPerEngine(
  'feedback is kept with its alert, replaced, taken back, and in timeline and audit log',
  async (engine, t) => {
    const { api, clock, store, site, insert, give, shown } = await start(engine, t)
    const { id } = await insert({ subject: 'event:"purchase"', subject_label: 'purchase' })
    assert.deepEqual(await shown(id).then(({ takes_feedback, feedback }) => [takes_feedback, feedback]), [true, null])

    const given = await give(id, { verdict: 'not_a_problem', by: ' Ada ' })
    const feedback = { verdict: 'not_a_problem', by: 'Ada', at: isoTime(NOW) }
    assert.deepEqual([given.status, given.json()], [200, feedback])
    clock.advance(1_000)
    assert.deepEqual((await give(id, { verdict: 'not_a_problem', by: 'Bob' })).json(), feedback)
    assert.deepEqual((await shown(id)).feedback, feedback)

    clock.advance(1_000)
    assert.equal((await give(id, { verdict: 'real' })).status, 200)
    const known = { alert_id: id, site_id: site.id, event_name: 'purchase', began_at: NOW - HOUR, ended_at: null }
    assert.deepEqual(await rows(store), [{ ...known, verdict: 'real', given_at: NOW + 2_000, given_by: 'anonymous' }])

    clock.advance(1_000)
    for (const status of [204, 204]) {
      assert.equal((await api.call('DELETE', `/api/alerts/${id}/feedback`)).status, status)
    }
    assert.deepEqual(await rows(store), [])
    const { feedback: after, timeline } = await shown(id)
    assert.equal(after, null)
    assert.deepEqual(
      timeline.map(({ kind, actor, text }) => [kind, actor, text.split(':')[0]]),
      [
        ['marked', 'Ada', 'Not a problem'],
        ['marked', 'anonymous', 'This was real'],
        ['unmarked', 'anonymous', 'Feedback taken back'],
      ],
    )
    const audit = (await api.call('GET', `/api/audit?entity_id=${id}`)).json<Record<string, unknown>[]>()
    assert.deepEqual(
      audit.map(({ action, before, after }) => [action, before, after]),
      [
        ['alert.unmark', { feedback: 'real' }, { feedback: null }],
        ['alert.mark', { feedback: 'not_a_problem' }, { feedback: 'real' }],
        ['alert.mark', { feedback: null }, { feedback: 'not_a_problem' }],
      ],
    )
  },
  logicEngines,
)

testPerEngine(
  'feedback on an open alert ends with it, on a resolved one it has its end',
  async (engine, t) => {
    const { api, clock, store, insert, give } = await start(engine, t)
    const open = await insert({ subject: 'target' })
    const over = await insert({
      subject: 'event:"a"',
      subject_label: 'a',
      state: 'resolved',
      resolved_at: NOW - 60_000,
    })
    for (const { id } of [open, over]) assert.equal((await give(id, { verdict: 'real' })).status, 200)
    const ends = async () => (await rows(store)).map(({ event_name, ended_at }) => [event_name, ended_at]).sort()
    assert.deepEqual(
      await ends(),
      [
        ['a', NOW - 60_000],
        [null, null],
      ].sort(),
    )
    clock.advance(5_000)
    assert.equal((await api.call('POST', `/api/alerts/${open.id}/resolve`, {})).status, 200)
    assert.deepEqual(
      await ends(),
      [
        ['a', NOW - 60_000],
        [null, NOW + 5_000],
      ].sort(),
    )
  },
  logicEngines,
)

testPerEngine(
  'what nothing learns from takes no feedback',
  async (engine, t) => {
    const { api, insert, give, shown } = await start(engine, t)
    const others: Partial<AlertRow>[] = [
      { probe_type: 'tag_failure_rate', subject: 'event:"a"', subject_label: 'a' },
      { subject: 'check' },
      { subject: 'others', subject_label: '30 more' },
    ]
    for (const over of others) {
      const { id } = await insert(over)
      const { status, text } = await give(id, { verdict: 'real' })
      assert.equal(status, 409, text)
      assert.equal((await shown(id)).takes_feedback, false)
    }
    const { id } = await insert()
    for (const body of [{}, { verdict: 'wrong' }, { verdict: 'real', why: 'x' }]) {
      assert.equal((await give(id, body)).status, 400)
    }
    assert.equal((await give(newId(), { verdict: 'real' })).status, 404)
    assert.equal((await api.call('DELETE', `/api/alerts/${newId()}/feedback`)).status, 404)
  },
  logicEngines,
)

testPerEngine('feedback is deleted with its alert and with its site', async (engine, t) => {
  const { api, store, site, insert, give } = await start(engine, t)
  const old = await insert({ state: 'resolved', resolved_at: NOW - 2 * DAY, subject: 'event:"a"', subject_label: 'a' })
  const kept = await insert()
  for (const { id } of [old, kept]) await give(id, { verdict: 'not_a_problem' })
  await clearAlerts(store, 1, NOW, () => true)
  assert.deepEqual(
    (await rows(store)).map(({ alert_id }) => alert_id),
    [kept.id],
  )
  assert.equal((await api.call('DELETE', `/api/sites/${site.id}`)).status, 204)
  assert.deepEqual(await rows(store), [])
})
