import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { dueDigests } from '../../src/digests/digests.ts'
import { writeDigest } from '../../src/digests/write-digest.ts'
import type { Payload } from '../../src/journal/payload.ts'
import { DAY, HOUR, MINUTE, newOrderedId } from '../../src/lib/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { event } from '../../testkit/payloads.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { insertPause, insertSite } from '../../testkit/sites.ts'
import { count, reportContext } from '../analytics/support.ts'
import { insertReader, insertStory, NOW, notes, openDigests, written } from './support.ts'

/** What a morning wants to know besides: a version, a silence, another of a site that is paused, and a quota near its end. */
async function insertMorning(store: Store, site: SiteRow): Promise<void> {
  const at = Date.parse('2026-11-19T08:00Z')
  const version = { source: 'web container', from_version: '41', to_version: '42', details: '{}' }
  const marker = (time: number) => ({ site_id: site.id, id: newOrderedId(time), at: time, ...version })
  await store.write
    .insertInto('deploy_markers')
    .values([marker(at), marker(at + DAY)])
    .execute()
  const paused = await insertSite(store, { client_id: site.client_id, is_active: 0 })
  await store.write
    .insertInto('silences')
    .values(
      [site.id, paused.id].map((site_id) => ({
        id: newOrderedId(at),
        client_id: null,
        site_id,
        probe_id: null,
        subject_key: null,
        subject_label: null,
        starts_at: at,
        ends_at: Date.parse('2026-11-20T12:00Z'),
        comment: 'Moving',
        created_at: at,
        created_by: 'admin',
      })),
    )
    .execute()
  await store.write.updateTable('clients').set({ plan: 'free' }).where('id', '=', site.client_id).execute()
  await store.write
    .insertInto('client_usage')
    .values({ client_id: site.client_id, month: 202_611, events: 90_000, requests: 1 })
    .onConflict((conflict) => conflict.columns(['client_id', 'month']).doUpdateSet({ events: 90_000 }))
    .execute()
}

/** Events with GA4 on each, Meta on each of which the last `failing` fail, and a rare tag on the first ten. */
const traffic = (time: string, total: number, failing: number, rare: 'success' | 'failure'): Payload[] =>
  Array.from({ length: total }, (_, index) =>
    event(time, {
      tags: [
        { id: '1', name: 'GA4', status: 'success', execution_time: 50 },
        { id: '2', name: 'Meta', status: index < total - failing ? 'success' : 'failure', execution_time: 90 },
        ...(index < 10 ? [{ id: '3', name: 'Rare', status: rare, execution_time: 10 } as const] : []),
      ],
    }),
  )

testOnEveryEngine(
  'the digest lists what the sites did, what got worse and which incidents there were',
  async (store, t) => {
    const site = await insertReader(store)
    const { client_id } = site
    const young = { client_id, name: 'blog', created_at: Date.parse('2026-11-18T12:00Z') }
    const blog = await insertSite(store, young)
    const off = await insertSite(store, { client_id, name: 'off', is_active: 0 })
    await insertSite(store, { client_id, name: 'new', created_at: Date.parse('2026-11-20T01:00Z') })
    const other = await insertSite(store, { name: 'other' })
    await count(store, site, [
      ...traffic('2026-11-18T10:00Z', 99, 2, 'success'),
      event('2026-11-18T22:59Z'),
      event('2026-11-18T23:00Z'),
      ...traffic('2026-11-19T10:00Z', 80, 24, 'failure'),
      event('2026-11-19T22:59Z'),
      event('2026-11-19T23:00Z'),
    ])
    await count(store, blog, [event('2026-11-18T14:00Z'), event('2026-11-19T14:00Z'), event('2026-11-19T15:00Z')])

    const ends = (time: string) => ({ resolved_at: Date.parse(time) })
    const impact = { summary: null, estimate: 'counted', sites: 1, from: 0, to: 1, final: true, share: null }
    const lost = { lost: 30, of: 80, low: 30, high: 30 }
    const cost = { ...impact, events: lost, key_events: [], executions: null, key_executions: [] }
    const vendor = await insertIncident(store, null, Date.parse('2026-11-19T22:00Z'), {
      vendor: 'meta',
      title: 'Meta tags fail on 3 of 4 sites',
    })
    const old = await insertStory(store, site, '2026-11-10T10:00Z', {
      title: 'Open for days',
      notified_severity: 'critical',
      impact: JSON.stringify(cost),
    })
    const quiet = { first_notified_at: null }
    const kept = { ...quiet, suppressed_by: 'silence:1' }
    const silenced = await insertStory(store, site, '2026-11-19T09:00Z', { title: 'Still silent' }, kept)
    const lesser = await insertStory(store, site, '2026-11-19T05:00Z', { title: 'For no one' }, quiet)
    const unheard = { id: newOrderedId(lesser.opened_at), at: lesser.opened_at, kind: 'critical_only', actor: null }
    const text = 'The words of this entry may change'
    await store.write
      .insertInto('incident_events')
      .values({ incident_id: lesser.id, ...unheard, text })
      .execute()
    const over = await insertStory(
      store,
      blog,
      '2026-11-18T20:00Z',
      { ...ends('2026-11-19T01:00Z'), title: 'Over' },
      quiet,
    )
    const late = { ...ends('2026-11-20T02:00Z'), cause: 'tag', parent_id: vendor.id, title: 'Late' }
    const early = await insertStory(store, site, '2026-11-19T22:00Z', late)
    await insertStory(store, site, '2026-11-18T10:00Z', { ...ends('2026-11-18T22:59Z'), title: 'Over before' })
    await insertStory(store, site, '2026-11-19T23:00Z', { title: 'Opened after' })
    const once = await insertStory(
      store,
      site,
      '2026-11-19T11:00Z',
      { title: 'Seen once' },
      { ...quiet, confirmed_at: null },
    )
    const soon = { ...ends('2026-11-19T11:05Z'), title: 'Over before it was confirmed' }
    await insertStory(store, site, '2026-11-19T11:00Z', soon, { confirmed_at: null })
    await insertStory(store, off, '2026-11-19T11:00Z', { ...ends('2026-11-19T12:00Z'), title: 'Of what is off' })
    const planned = await insertStory(
      store,
      site,
      '2026-11-19T12:00Z',
      { ...ends('2026-11-19T13:00Z'), title: 'Planned' },
      { ...quiet, suppressed_by: 'maintenance:1' },
    )
    await insertStory(store, site, '2026-11-19T12:30Z', { parent_id: old.id, title: 'A part of what is open for days' })
    const outlasting = await insertStory(store, site, '2026-11-19T06:00Z', { parent_id: planned.id, title: 'Lasts' })
    await insertStory(store, other, '2026-11-19T12:00Z', { title: "Another client's" })

    await insertMorning(store, site)
    await insertProbe(store, site.id)
    await insertProbe(store, blog.id, { is_active: 0 })
    const { tick, errors } = await openDigests(t, store)
    await tick()
    assert.deepEqual(errors, [])
    const line = ({ id, title, started_at, resolved_at }: typeof old) => ({
      id,
      site: 'shop',
      severity: 'warning',
      title,
      cause: 'tag server',
      began_at: started_at,
      resolved_at,
      impact: null,
      unnotified: null,
    })
    assert.deepEqual(await written(store), [
      {
        channel: `email:${client_id}`,
        client_id,
        alert_id: null,
        kind: 'digest',
        state: 'pending',
        message: {
          kind: 'digest',
          client: { id: client_id, name: 'Acme' },
          period: 'daily',
          from: Date.parse('2026-11-18T23:00Z'),
          to: Date.parse('2026-11-19T23:00Z'),
          timezone: 'Europe/Berlin',
          sites: [
            {
              id: site.id,
              name: 'shop',
              events: 82,
              events_before: 100,
              // 80 + 56 of 170 executions, against 99 + 97 + 10 of 208.
              score: 70,
              score_before: 97.97979798,
              worse_tags: [{ tag_key: 'Meta', success_rate: 0.7, success_rate_before: 97 / 99 }],
            },
            {
              id: blog.id,
              name: 'blog',
              events: 2,
              events_before: null,
              score: null,
              score_before: null,
              worse_tags: [],
            },
          ],
          incidents: [
            // The one that is critical comes first, however old it is.
            { ...line(old), severity: 'critical', impact: '30 of 80 events (38 %)' },
            { ...line(once), unnotified: 'not notified yet' },
            { ...line(silenced), unnotified: 'not notified: silenced' },
            { ...line(outlasting), cause: '“Planned”' },
            { ...line(lesser), unnotified: 'not notified: every channel takes critical alerts only' },
            { ...line(early), cause: 'probably Meta, on other sites too' },
            { ...line(planned), unnotified: 'not notified: maintenance' },
            { ...line(over), site: 'blog', unnotified: 'not notified' },
          ],
          counts: { incidents: 8, unresolved: 5 },
          down: 0,
          unwatched: 1,
          morning: {
            changes: [{ site: 'shop', text: 'All events: 82, none a week before' }],
            hours_left_out: 0,
            versions: [{ site: 'shop', text: 'web container 41 → 42', at: Date.parse('2026-11-19T08:00Z') }],
            quota: { events: 90_000, limit: 100_000 },
            muted: [{ kind: 'silence', of: 'shop', why: 'Moving', ends_at: Date.parse('2026-11-20T12:00Z') }],
          },
        },
      },
    ])
    const note = { client_id, period_end: Date.parse('2026-11-19T23:00Z'), written_at: Date.parse(NOW) }
    assert.deepEqual(await notes(store), [note])
  },
)

testLogic(
  'a digest says how long Tagwarden was down, compares no count with one that it missed, and counts the incidents that it does not list',
  async (store, t) => {
    const site = await insertReader(store)
    await count(store, site, [event('2026-11-18T10:00Z'), event('2026-11-18T11:00Z'), event('2026-11-19T10:00Z')])
    // Half of it was the day before.
    const outage = { began_at: Date.parse('2026-11-18T22:30Z'), ended_at: Date.parse('2026-11-18T23:30Z') }
    await store.write.insertInto('outages').values(outage).execute()
    for (let n = 0; n < 52; n++) {
      const ends = n === 0 ? { resolved_at: Date.parse('2026-11-19T11:00Z') } : {}
      await insertStory(store, site, '2026-11-19T10:00Z', { ...ends, title: 'A tag' })
    }
    const { tick } = await openDigests(t, store)
    await tick()
    const [first] = await written(store)
    const { incidents, counts } = first?.message ?? {}
    assert.deepEqual([incidents?.length, counts], [50, { incidents: 52, unresolved: 51 }])
    const { down, sites, morning } = first?.message ?? assert.fail('no digest')
    assert.deepEqual([down, sites[0]?.events, sites[0]?.events_before], [30 * MINUTE, 1, null])
    assert.equal(morning?.hours_left_out, 1)
  },
)

testLogic('counts of a site that was paused in either period are not compared', async (store, t) => {
  const site = await insertReader(store)
  const other = await insertSite(store, { client_id: site.client_id, name: 'other', created_at: 1 })
  const events = [event('2026-11-18T20:00Z'), event('2026-11-19T10:00Z')]
  await count(store, site, events)
  await count(store, other, events)
  await insertPause(store, site, Date.parse('2026-11-17T12:00Z'), Date.parse('2026-11-18T18:00Z'))
  const { tick } = await openDigests(t, store)
  await tick()
  const [first] = await written(store)
  const before = first?.message.sites.map(({ name, events, events_before }) => [name, events, events_before])
  assert.deepEqual(before, [
    [site.name, 1, null],
    ['other', 1, 1],
  ])
})

testLogic('there is one digest a morning, and the next one the morning after', async (store, t) => {
  const site = await insertReader(store)
  const { tick, clock } = await openDigests(t, store, '2026-11-20T05:59:00Z', {})
  clock.set('2026-11-20T06:00:00Z')
  await tick()
  clock.advance(MINUTE)
  await tick()
  assert.equal((await written(store)).length, 1)
  clock.set('2026-11-21T05:59:00Z')
  await tick()
  assert.equal((await written(store)).length, 1)
  clock.set('2026-11-21T06:00:00Z')
  await tick()
  assert.deepEqual(
    (await written(store)).map(({ message }) => [message.from, message.to].map((time) => new Date(time).toISOString())),
    [
      ['2026-11-18T23:00:00.000Z', '2026-11-19T23:00:00.000Z'],
      ['2026-11-19T23:00:00.000Z', '2026-11-20T23:00:00.000Z'],
    ],
  )
  assert.equal((await written(store))[0]?.client_id, site.client_id)
})

testLogic(
  'a change of the time zone in the morning brings no second digest of the day, and the next one is due',
  async (store, t) => {
    const site = await insertReader(store)
    const { tick, clock } = await openDigests(t, store, '2026-11-20T06:30:00Z', {})
    await tick()
    await store.write.updateTable('sites').set({ timezone: 'America/New_York' }).where('id', '=', site.id).execute()
    for (const [now, count] of [
      ['2026-11-20T07:00:00Z', 1],
      ['2026-11-20T12:00:00Z', 1],
      ['2026-11-21T11:59:00Z', 1],
      ['2026-11-21T12:00:00Z', 2],
    ] as const) {
      clock.set(now)
      await tick()
      assert.equal((await written(store)).length, count, now)
    }
  },
)

testOnEveryEngine('nodes that write the same digest at once write it once', async (store) => {
  await insertReader(store)
  const due = await dueDigests(store, Date.parse(NOW))
  assert.equal(due.length, 1)
  await Promise.all([due, due, due, due].flat().map((one) => writeDigest({ ...reportContext(store, NOW) }, one)))
  assert.equal((await written(store)).length, 1)
  assert.equal((await notes(store)).length, 1)
  assert.deepEqual(await dueDigests(store, Date.parse(NOW)), [])
})

testLogic('a digest that could not be written is written later, and does not hold up others', async (store, t) => {
  const sites = [await insertReader(store), await insertReader(store)]
  const broken = sites.toSorted((a, b) => (a.client_id < b.client_id ? -1 : 1))[0]
  const { tick, errors, clock } = await openDigests(t, store)
  const young = await insertSite(store, { client_id: broken?.client_id ?? '', timezone: 'No/Where', created_at: 1 })
  await tick()
  assert.equal(errors.length, 1)
  assert.match(errors[0] ?? '', /^digests: 1 digest could not be written: /)
  assert.deepEqual(
    (await written(store)).map(({ client_id }) => client_id),
    sites.filter((site) => site !== broken).map(({ client_id }) => client_id),
  )
  await store.write.deleteFrom('sites').where('id', '=', young.id).execute()
  clock.advance(MINUTE)
  await tick()
  assert.equal((await written(store)).length, 2)
})

testOnEveryEngine('the note and the message are written together or not at all', async (store, t) => {
  await insertReader(store)
  const { tick, errors } = await openDigests(t, store)
  await sql`alter table deliveries rename to put_away`.execute(store.admin)
  await tick()
  assert.equal(errors.length, 1)
  assert.deepEqual(await notes(store), [])
  await sql`alter table put_away rename to deliveries`.execute(store.admin)
  await tick()
  assert.equal((await written(store)).length, 1)
})

testLogic('a missed digest is sent for twelve hours, and then only noted', async (store, t) => {
  await insertReader(store)
  const { tick, clock } = await openDigests(t, store, '2026-11-20T17:59:59Z')
  await tick()
  assert.equal((await written(store)).length, 1)
  clock.set('2026-11-25T18:00:00Z')
  await tick()
  assert.equal((await written(store)).length, 1)
  assert.deepEqual(
    (await notes(store)).map(({ period_end }) => new Date(period_end).toISOString()),
    ['2026-11-19T23:00:00.000Z', '2026-11-24T23:00:00.000Z'],
  )
  clock.set('2026-11-26T06:00:00Z')
  await tick()
  assert.equal((await written(store)).length, 2)
})

testOnEveryEngine(
  'a week is reported on Monday, and once though the client changes between day and week',
  async (store, t) => {
    const site = await insertReader(store, { digest: 'weekly' })
    const { tick, clock } = await openDigests(t, store, '2026-11-16T06:00:00Z')
    await count(store, site, [event('2026-11-02T00:00Z'), event('2026-11-09T00:00Z'), event('2026-11-15T22:59Z')])
    await tick()
    const [first] = await written(store)
    const expected = { events: 2, events_before: 1 }
    assert.equal(first?.message.period, 'weekly')
    assert.deepEqual(
      first?.message.sites.map(({ events, events_before }) => ({ events, events_before })),
      [expected],
    )
    const change = (digest: string) => store.write.updateTable('clients').set({ digest }).execute()
    await change('daily')
    clock.advance(HOUR)
    await tick()
    assert.equal((await written(store)).length, 1)
    clock.advance(DAY)
    await tick()
    await change('weekly')
    clock.set('2026-11-23T06:00:00Z')
    await tick()
    assert.deepEqual(
      (await written(store)).map(({ message }) => message.period),
      ['weekly', 'daily', 'weekly'],
    )
  },
)

testOnEveryEngine(
  'no digest goes to a client who did not ask, cannot be reached or has nothing to read',
  async (store, t) => {
    await insertReader(store, { digest: 'off' })
    await insertReader(store, { email: null })
    await insertReader(store, { is_active: 0 })
    const idle = await insertReader(store)
    await store.write.updateTable('sites').set({ is_active: 0 }).where('id', '=', idle.id).execute()
    const young = await insertReader(store)
    const created_at = Date.parse('2026-11-20T00:00Z')
    await store.write.updateTable('sites').set({ created_at }).where('id', '=', young.id).execute()
    const { tick, errors } = await openDigests(t, store)
    await tick()
    assert.deepEqual(errors, [])
    assert.deepEqual(await written(store), [])
    assert.deepEqual(
      (await notes(store)).map(({ client_id }) => client_id),
      [young.client_id],
    )
  },
)

testOnEveryEngine('without e-mail there are no digests, and old notes go', async (store, t) => {
  const site = await insertReader(store)
  const off = await openDigests(t, store, NOW, { isEmailOn: false })
  assert.deepEqual(off.digests.loops, [])
  off.digests.start()
  const written_at = Date.parse(NOW) - 60 * DAY
  const note = (period_end: number, at: number) => ({ client_id: site.client_id, period_end, written_at: at })
  await store.write
    .insertInto('digests')
    .values([note(1, written_at - 1), note(2, written_at)])
    .execute()
  const { tick, digests } = await openDigests(t, store)
  assert.deepEqual(
    digests.loops.map(({ name }) => name),
    ['digests', 'digest-retention'],
  )
  await tick()
  assert.deepEqual(
    (await notes(store)).map(({ period_end }) => period_end),
    [2, Date.parse('2026-11-19T23:00Z')],
  )
})
