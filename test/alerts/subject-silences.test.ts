import assert from 'node:assert/strict'
import { runUpkeep } from '../../src/alerts/upkeep.ts'
import { HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { subjectKey } from '../../src/probes/index.ts'
import type { Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { openMuteApi, placeOf } from './mute-support.ts'
import { outbox } from './support.ts'

const CHANNEL_SETTINGS = { globalWebhook: 'https://hooks.example/all', isEmailOn: false }
const [META, GA4] = [subjectKey({ tag_key: 'Meta' }), subjectKey({ tag_key: 'GA4' })]

interface Silence {
  id: string
  subject_label: string | null
  until_resolved: boolean
  state: string
}

/** Two alerts of one probe, each about a tag, with reminders that are due. */
async function open(store: Store, api: Awaited<ReturnType<typeof openMuteApi>>) {
  const { site, probe } = placeOf(api, 0)
  const at = api.clock.now() - HOUR
  await store.write.updateTable('clients').set({ reminder_minutes: 30 }).where('id', '=', site.client_id).execute()
  const notified = {
    confirmed_at: at,
    announced_at: at,
    last_announced_at: at,
    first_notified_at: at,
    last_notified_at: at,
  }
  const insert = (subject: string, label: string) =>
    insertAlert(store, site, at, { probe_id: probe.id, subject, subject_label: label, title: label, ...notified })
  return { site, probe, meta: await insert(META, 'Meta'), ga4: await insert(GA4, 'GA4') }
}

const reminded = async (store: Store, now: number): Promise<string[]> => {
  await runUpkeep(store, CHANNEL_SETTINGS, { now: () => now }, () => true)
  return (await outbox(store)).map(({ alert }) => alert.title)
}

testLogic('the silence of one tag does not mute the other, and stands in its timeline', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { probe, meta, ga4 } = await open(store, api)
  const ends_at = isoTime(api.clock.now() + HOUR)
  const answer = await api.call<Silence>('POST', '/api/silences', { probe_id: probe.id, subject_key: META, ends_at })
  assert.deepEqual([answer.status, answer.body.subject_label], [201, 'Meta'])
  assert.deepEqual(await reminded(store, api.clock.now()), ['GA4'])
  const entries = async (id: string) => {
    const rows = await store.write
      .selectFrom('alert_events')
      .selectAll()
      .where('alert_id', '=', id)
      .orderBy('id')
      .execute()
    return rows.map(({ kind, text }) => `${kind}: ${text}`)
  }
  assert.deepEqual((await entries(meta.id))[0], `silenced: Silenced until ${ends_at}`)
  assert.deepEqual(await entries(ga4.id), [])
  await api.call('DELETE', `/api/silences/${answer.body.id}`)
  assert.equal((await entries(meta.id)).at(-1), 'unsilenced: The silence was ended')
})

testOnEveryEngine('a silence until it is resolved ends with the last alert within it', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { probe, meta, ga4 } = await open(store, api)
  const whole = await api.call<Silence>('POST', '/api/silences', { probe_id: probe.id, until_resolved: true })
  const tag = await api.call<Silence>('POST', '/api/silences', {
    probe_id: probe.id,
    subject_key: META,
    until_resolved: true,
  })
  assert.deepEqual([whole.status, tag.status, tag.body.until_resolved], [201, 201, true])
  const states = async () => {
    const list = await api.get<Silence[]>('/api/silences')
    return [whole, tag].map(({ body }) => list.find(({ id }) => id === body.id)?.state)
  }
  assert.deepEqual(await states(), ['active', 'active'])
  api.clock.advance(MINUTE)
  await store.write.updateTable('probes').set({ is_active: 0 }).where('id', '=', probe.id).execute()
  await store.write.updateTable('alerts').set({ state: 'resolved' }).where('id', '=', ga4.id).execute()
  await runUpkeep(store, CHANNEL_SETTINGS, api.clock, () => true)
  assert.deepEqual(await states(), ['ended', 'ended'])
  assert.equal(meta.subject, META)
})

testLogic('a silence that cannot be is refused with what is wrong', async (store, t) => {
  const api = await openMuteApi(store, t)
  const { site, probe } = placeOf(api, 0)
  const ends_at = isoTime(api.clock.now() + HOUR)
  const rows: [body: object, names: RegExp][] = [
    [{ site_id: site.id, subject_key: META, ends_at }, /subject_key/],
    [{ probe_id: probe.id }, /ends_at/],
    [{ probe_id: probe.id, until_resolved: true }, /until_resolved/],
  ]
  for (const [body, names] of rows) {
    const answer = await api.call('POST', '/api/silences', body)
    assert.equal(answer.status, 400)
    assert.match(JSON.stringify(answer.body), names)
  }
})
