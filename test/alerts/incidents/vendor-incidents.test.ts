import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { handleIncident } from '../../../src/alerts/incidents/handle-incident.ts'
import { summariesOf } from '../../../src/alerts/incidents/reach.ts'
import { followVendors } from '../../../src/alerts/incidents/vendor-incidents.ts'
import { createSilence } from '../../../src/alerts/silences/silences.ts'
import { lockUnresolved } from '../../../src/alerts/write-transitions.ts'
import { DAY, floorTo, HOUR, isoTime, MINUTE, newOrderedId } from '../../../src/lib/index.ts'
import { vendorCard } from '../../../src/notifications/cards/vendor-card.ts'
import type { AlertMessage, VendorMessage } from '../../../src/notifications/index.ts'
import type { ProbeOutcome } from '../../../src/probes/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { knownRecipients } from '../../../src/store/migrations/0065-known-recipients.ts'
import { insertAlert } from '../../../testkit/alerts.ts'
import { openEmptyStore, postgres, testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { steppingStore } from '../../../testkit/stepping-store.ts'
import { until } from '../../../testkit/until.ts'
import { typeOf } from '../../probes/support.ts'
import { deliverAll, watch } from '../support.ts'

/** Sites of a client each, but for `alike` of one client, all with a tag of Meta's; `fail` says which of them it fails on. */
async function watchSites(t: TestContext, store: Store, count: number, tag_key = 'Meta CAPI', alike = 1) {
  const failing = new Set<string>()
  let status: 'warning' | 'critical' = 'critical'
  const run = async ({ site }: { site: { id: string } }): Promise<ProbeOutcome> => {
    if (!failing.has(site.id)) return { status: 'ok', message: 'fine', details: {}, findings: [] }
    const subject = { tag_key }
    const message = `Meta CAPI fails on ${names.get(site.id)}`
    const details = { findings: [{ subject }] }
    return {
      status,
      message,
      details,
      findings: [{ subject, status, message, startedAt: null, details }],
    }
  }
  const names = new Map<string, string>()
  const type = typeOf(run, { name: 'tag_failure_rate' })
  const seen = await watch(t, store, { probe_type: 'tag_failure_rate' }, { type, delivers: false })
  const sites = [seen.site]
  for (let n = 1; n < count; n++) {
    const site = await insertSite(store, { name: `site-${n}` })
    await insertProbe(store, site.id, { probe_type: 'tag_failure_rate' })
    sites.push(site)
  }
  for (const site of sites.slice(0, alike)) {
    site.client_id = seen.site.client_id
    await store.write.updateTable('sites').set({ client_id: site.client_id }).where('id', '=', site.id).execute()
  }
  for (const [n, { id, client_id, site_no }] of sites.entries()) {
    names.set(id, `site-${n}`)
    await store.write
      .updateTable('clients')
      .set({ name: `client-${n}`, chat_webhook: `https://hooks.example/${n}` })
      .where('id', '=', client_id)
      .execute()
    const name = { container_id: 'GTM-TEST', tag_id: '1', tag_name: tag_key, last_seen_at: seen.clock.now() }
    const inBatches = { day: floorTo(seen.clock.now(), DAY), kind: 'tag', name: tag_key }
    // Every other one sends batches, which have no ids of tags.
    if (n % 2 === 0)
      await store.write
        .insertInto('tag_names')
        .values({ site_no, ...name })
        .execute()
    else
      await store.write
        .insertInto('daily_names')
        .values({ site_no, ...inBatches })
        .execute()
  }
  return {
    ...seen,
    sites,
    /** It fails on one more site, and no one has looked across the sites since. */
    failAlsoOn: async (id = '') => {
      failing.add(id)
      await seen.find('o')
    },
    recover: () => failing.clear(),
    /** From now on it fails on so many of the sites. */
    fail: async (on: number, badly: typeof status = 'critical') => {
      status = badly
      failing.clear()
      for (const { id } of sites.slice(0, on)) failing.add(id)
      await seen.find('o')
      await seen.upkeep()
    },
  }
}

const incidents = (store: Store) => store.write.selectFrom('incidents').selectAll().orderBy('id').execute()

/** What waits on a channel or was withdrawn, as `kind state`. */
async function on(store: Store, channel: string) {
  const rows = await store.write
    .selectFrom('deliveries')
    .selectAll()
    .where('channel', '=', channel)
    .orderBy('id')
    .execute()
  return rows.map(({ kind, state, message }) => ({ text: `${kind} ${state}`, message }))
}
const texts = async (store: Store, channel: string) => (await on(store, channel)).map(({ text }) => text)

testLogic(
  'what fails on sites of one client alone is one message to the operator, but no fault of the vendor, and takes in no other client',
  async (store, t) => {
    const { fail, sites, clock } = await watchSites(t, store, 12, 'Meta CAPI', 4)
    await fail(4)
    const vendor = (await incidents(store)).find(({ scope }) => scope === 'vendor')
    assert.equal(vendor?.title, 'Meta tags fail on 4 of 12 sites')
    assert.deepEqual(await texts(store, 'global'), [...Array(4).fill('opened cancelled'), 'vendor_opened pending'])
    const notes = (await on(store, `chat:${sites[0]?.client_id}`)).flatMap(
      ({ message }) => (JSON.parse(message) as AlertMessage).incident?.note ?? [],
    )
    assert.match(notes.join(), /^Other sites of this client are affected too: Meta fails, or something they share/)
    assert.doesNotMatch(notes.join(), /not your release/)

    const toOperator = async () => {
      const [said] = (await on(store, 'global')).slice(-1)
      return vendorCard(JSON.parse(said?.message ?? '{}') as VendorMessage, { publicUrl: '', at: clock.now() })
    }
    assert.deepEqual((await toOperator()).paragraphs, [
      'All of these sites belong to one client: Meta fails, or something that they share, such as a release. The client is notified about each of them.',
    ])

    clock.advance(5 * MINUTE)
    await fail(5)
    const parentOf = async (site: number) =>
      (await incidents(store)).find(({ site_id }) => site_id === sites[site]?.id)?.parent_id
    assert.equal(await parentOf(4), null)
    await fail(6)
    assert.deepEqual([await parentOf(4), await parentOf(5)], [vendor?.id, vendor?.id])
  },
)

testLogic(
  'a vendor that fails on four of twelve sites is one incident, and one message to the operator',
  async (store, t) => {
    const { fail, sites, clock } = await watchSites(t, store, 12)
    const at = clock.now() - 14 * MINUTE
    const version = { source: 'web container', from_version: '41', to_version: '42', details: '{}' } as const
    await store.write
      .insertInto('deploy_markers')
      .values({ site_id: sites[1]?.id ?? '', id: newOrderedId(at), at, ...version })
      .execute()
    await fail(4)
    const [vendor, ...others] = (await incidents(store)).filter(({ scope }) => scope === 'vendor')
    assert.deepEqual(others, [])
    assert.deepEqual(
      [vendor?.title, vendor?.severity, vendor?.client_id, vendor?.state],
      ['Meta tags fail on 4 of 12 sites', 'critical', null, 'open'],
    )
    const parts = (await incidents(store)).filter(({ scope }) => scope === 'site')
    assert.ok(parts.length === 4 && parts.every(({ parent_id }) => parent_id === vendor?.id))
    assert.deepEqual(await texts(store, 'global'), [...Array(4).fill('opened cancelled'), 'vendor_opened pending'])

    const chat = `chat:${sites[1]?.client_id}`
    assert.deepEqual(await texts(store, chat), ['opened pending', 'explained pending'])
    const [, explained] = (await on(store, chat)).map(({ message }) => JSON.parse(message) as AlertMessage)
    assert.equal(explained?.incident?.note, 'Other sites are affected too: probably Meta, not your release')
    // It must not blame the release in its next line.
    assert.equal(explained?.incident?.likely_cause, explained?.incident?.note)
    for (const { message } of await on(store, chat)) {
      for (const foreign of ['client-0', 'site-2', 'client-3']) assert.ok(!message.includes(foreign), foreign)
    }

    clock.advance(5 * MINUTE)
    await fail(5)
    assert.equal((await incidents(store)).find(({ id }) => id === vendor?.id)?.title, 'Meta tags fail on 5 of 12 sites')
    assert.equal((await texts(store, 'global')).filter((text) => text === 'vendor_opened pending').length, 1)

    clock.advance(5 * MINUTE)
    await fail(2)
    assert.equal((await incidents(store)).find(({ id }) => id === vendor?.id)?.state, 'open')
    clock.advance(MINUTE)
    await fail(0)
    const ended = (await incidents(store)).find(({ id }) => id === vendor?.id)
    assert.deepEqual([ended?.state, ended?.resolved_at], ['resolved', clock.now()])
    const told = (await on(store, 'global')).filter(({ text }) => text.startsWith('vendor'))
    assert.deepEqual(
      told.map(({ text }) => text),
      ['vendor_opened pending', 'vendor_resolved pending'],
    )
    const last = JSON.parse(told.at(-1)?.message ?? '{}') as VendorMessage
    assert.deepEqual([last.vendor, last.sites.length], ['Meta', 5])
    assert.deepEqual((await texts(store, chat)).slice(2), ['resolved pending'])
  },
)

testLogic("a vendor's incident whose sites are all deleted ends, and counts none of them", async (store, t) => {
  const { fail, sites, alerts, upkeep } = await watchSites(t, store, 12)
  await fail(4)
  await store.write.transaction().execute((trx) => alerts.deletionHooks.removeOfSites(trx, sites.slice(0, 4)))
  await upkeep()
  const [vendor] = await incidents(store)
  assert.deepEqual([vendor?.state, vendor?.title], ['resolved', 'Meta tags fail on 4 of 12 sites'])
  const events = await store.write.selectFrom('incident_events').select(['kind', 'text']).orderBy('id').execute()
  assert.deepEqual(events.at(-1), { kind: 'resolved', text: 'No site is left in it' })
  const { message = '{}' } = (await on(store, 'global')).at(-1) ?? {}
  const card = vendorCard(JSON.parse(message) as VendorMessage, { publicUrl: '', at: 0 })
  assert.deepEqual([card.heading, card.facts.map(({ name }) => name)], ['[RESOLVED] Meta', ['Lasted']])
})

testLogic("a vendor's incident that is back on its sites is one incident and one message again", async (store, t) => {
  const { fail, clock } = await watchSites(t, store, 12)
  await fail(4)
  clock.advance(5 * MINUTE)
  await fail(0)
  await deliverAll(store, clock.now())
  clock.advance(30 * MINUTE)
  await fail(4)
  const vendors = (await incidents(store)).filter(({ scope }) => scope === 'vendor')
  assert.deepEqual(
    vendors.map(({ title, state, resolved_at }) => [title, state, resolved_at]),
    [['Meta tags fail on 4 of 12 sites', 'open', null]],
  )
  const said = (await texts(store, 'global')).filter((text) => text.startsWith('vendor'))
  assert.deepEqual(said, ['vendor_opened delivered', 'vendor_resolved delivered', 'vendor_opened pending'])
  await fail(0)
  assert.deepEqual((await texts(store, 'global')).at(-1), 'vendor_resolved pending')
})

testOnEveryEngine(
  'a vendor that is back before its end was sent is news only where its opening was given up',
  async (store, t) => {
    const { fail, upkeep, clock } = await watchSites(t, store, 12)
    const said = async () => (await texts(store, 'global')).filter((text) => text.startsWith('vendor'))
    const settle = (state: string) =>
      store.write
        .updateTable('deliveries')
        .set({ state, given_up_at: state === 'failed' ? clock.now() : null })
        .where('kind', '=', 'vendor_opened')
        .execute()
    await fail(4)
    await settle('delivered')
    await fail(0)
    clock.advance(30 * MINUTE)
    await fail(4)
    await upkeep()
    assert.deepEqual(await said(), ['vendor_opened delivered', 'vendor_resolved cancelled'])

    await fail(0)
    assert.deepEqual((await said()).slice(2), ['vendor_resolved pending'])
    await settle('failed')
    clock.advance(30 * MINUTE)
    await fail(4)
    assert.deepEqual((await said()).slice(2), ['vendor_resolved cancelled', 'vendor_opened pending'])
  },
)

testOnEveryEngine('an opening that is given up after its vendor is back is said again', async (store, t) => {
  const { fail, upkeep, clock } = await watchSites(t, store, 12)
  await fail(4, 'warning')
  await fail(0)
  clock.advance(30 * MINUTE)
  await fail(4, 'warning')
  await store.write
    .updateTable('deliveries')
    .set({ state: 'failed', given_up_at: clock.now() })
    .where('kind', '=', 'vendor_opened')
    .execute()
  clock.advance(DAY)
  for (let round = 0; round < 3; round++) await upkeep()
  assert.deepEqual(
    (await texts(store, 'global')).filter((text) => text.startsWith('vendor')),
    ['vendor_opened failed', 'vendor_resolved cancelled', 'vendor_opened pending'],
  )
})

testOnEveryEngine("the upgrade finds which vendor's incident a message is about", async (store, t) => {
  const { fail } = await watchSites(t, store, 12)
  await fail(4)
  const ids = () =>
    store.write.selectFrom('deliveries').select(['kind', 'incident_id']).where('incident_id', 'is not', null).execute()
  const before = await ids()
  assert.deepEqual(
    before.map(({ kind }) => kind),
    ['vendor_opened'],
  )
  await store.write.updateTable('deliveries').set({ incident_id: null }).execute()
  for (const text of knownRecipients.statements(store.columnTypes).filter((each) => each.startsWith('update')))
    await sql.raw(text).execute(store.write)
  assert.deepEqual(await ids(), before)
})

testLogic(
  'what is back on one site after the end of a vendor is said to the operator like any other',
  async (store, t) => {
    const { fail, clock } = await watchSites(t, store, 12)
    await fail(4, 'warning')
    await fail(0)
    clock.advance(30 * MINUTE)
    await fail(1, 'warning')
    await fail(1, 'critical')
    const said = async () => (await texts(store, 'global')).slice(6)
    assert.deepEqual(await said(), ['opened pending', 'escalated pending'])
  },
)

testLogic('what is back on one site while its vendor still fails is no news to the operator', async (store, t) => {
  const { fail, clock } = await watchSites(t, store, 12)
  await fail(4)
  clock.advance(5 * MINUTE)
  await fail(3)
  clock.advance(30 * MINUTE)
  await fail(4)
  assert.deepEqual(await texts(store, 'global'), [...Array(4).fill('opened cancelled'), 'vendor_opened pending'])
  await fail(0)
  assert.deepEqual((await texts(store, 'global')).slice(5), ['vendor_resolved pending'])
})

testOnEveryEngine(
  'what joins a vendor that someone resolves meanwhile is still said to the operator',
  async (store, t) => {
    const { fail, failAlsoOn, sites, clock } = await watchSites(t, store, 12)
    await fail(4)
    const id = (await incidents(store)).find(({ scope }) => scope === 'vendor')?.id ?? ''
    const settings = { globalWebhook: 'https://hooks.example/all', isEmailOn: true }
    let isResolved = false
    const stepping = steppingStore(store, async () => {
      if (isResolved) return
      isResolved = true
      await handleIncident({ store, clock, actor: 'admin' }, settings, id, 'resolve', {})
    })
    await failAlsoOn(sites[4]?.id)
    await followVendors(stepping, settings, clock)
    assert.ok(isResolved)
    assert.deepEqual((await texts(store, 'global')).slice(-2).sort(), ['opened pending', 'vendor_resolved pending'])
  },
)

test("of two people who acknowledge a vendor's incident at once the first is noted, once", async (t) => {
  const store = await openEmptyStore(postgres, t)
  const { fail, clock } = await watchSites(t, store, 4)
  await fail(3)
  const vendor = async () => (await incidents(store)).find(({ scope }) => scope === 'vendor')
  const id = (await vendor())?.id ?? ''
  const settings = { globalWebhook: 'https://hooks.example/all', isEmailOn: true }
  const acknowledge = (actor: string) => handleIncident({ store, clock, actor }, settings, id, 'acknowledge', {})
  const people = await store.write.transaction().execute(async (trx) => {
    const probes = await trx.selectFrom('probes').select('id').execute()
    await lockUnresolved(
      trx,
      store,
      probes.map((probe) => probe.id),
    )
    const both = ['Ada', 'Ben'].map(acknowledge)
    await until('both wait', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
      return rows.length === 2 ? true : undefined
    })
    return both
  })
  await Promise.all(people)
  const events = await store.read
    .selectFrom('incident_events')
    .select('actor')
    .where('incident_id', '=', id)
    .where('kind', '=', 'acknowledged')
    .execute()
  assert.deepEqual(events, [{ actor: (await vendor())?.acknowledged_by }])
  const audited = await store.read.selectFrom('audit_log').select('actor').where('entity_id', '=', id).execute()
  assert.deepEqual(audited, events)
})

testOnEveryEngine(
  'checks of many sites without access to Google are one incident, however far apart',
  async (store, t) => {
    const isRefused = (site: string) => ({ server: { reason: site === 'site-3' ? 'api_disabled' : 'refused' } })
    const failing = new Set(['site-0', 'site-1', 'site-2'])
    const type = typeOf(
      async ({ site: { name } }): Promise<ProbeOutcome> =>
        failing.has(name)
          ? { status: 'error', message: 'Google says no', details: isRefused(name) }
          : { status: 'ok', message: 'fine', details: {} },
      { name: 'tag_manager_version' },
    )
    const seen = await watch(t, store, { probe_type: 'tag_manager_version' }, { type, delivers: false })
    await store.write.updateTable('sites').set({ name: 'site-0' }).where('id', '=', seen.site.id).execute()
    for (const name of ['site-1', 'site-2', 'site-3']) {
      const site = await insertSite(store, { name })
      await insertProbe(store, site.id, { probe_type: 'tag_manager_version' })
    }
    await seen.find('ooo')
    await seen.upkeep()
    seen.clock.advance(5 * 60 * MINUTE)
    failing.add('site-3')
    await seen.find('ooo')
    // Another alert has come to lead the sites' incidents meanwhile.
    const tag = { probe_id: seen.probe.id, probe_type: 'tag_failure_rate', state: 'resolved', resolved_at: 0 }
    const { id: lead_alert_id } = await insertAlert(store, seen.site, seen.clock.now(), tag)
    await store.write.updateTable('incidents').set({ lead_alert_id }).where('parent_id', 'is not', null).execute()
    await seen.upkeep()
    const [vendor, ...others] = (await incidents(store)).filter(({ scope }) => scope === 'vendor')
    assert.deepEqual(
      [vendor?.title, vendor?.cause, others],
      [
        'Checks of 4 sites have no access to Google APIs: look at GOOGLE_CREDENTIALS and the Google Cloud project',
        'own',
        [],
      ],
    )
    const said = (await on(store, 'global')).filter(({ text }) => !text.endsWith('cancelled'))
    assert.deepEqual(
      said.map(({ text }) => text),
      ['vendor_opened pending'],
    )
    const message = JSON.parse(said[0]?.message ?? '') as VendorMessage
    const card = vendorCard(message, { publicUrl: 'https://tagwarden.example', at: seen.clock.now() })
    assert.doesNotMatch(card.paragraphs.join(' '), /by chance/)
    const why = await store.write.selectFrom('incident_events').select('text').where('kind', '=', 'belongs').execute()
    assert.deepEqual(
      [...new Set(why.map(({ text }) => text))],
      ['Checks of other sites have no access to Google APIs either: it is not your release'],
    )
    failing.clear()
    await seen.find('ooo')
    await seen.upkeep()
    assert.ok((await incidents(store)).every(({ state }) => state === 'resolved'))
  },
)

testLogic(
  'tags that fail as often as chance has it stay faults of their sites, however long they last',
  async (store, t) => {
    const { fail, sites, clock, upkeep } = await watchSites(t, store, 12)
    const past = { probe_type: 'tag_failure_rate', subject_label: 'Meta CAPI', state: 'resolved', resolved_at: 0 }
    for (const site of sites.slice(0, 3)) {
      const { probe_id } = await insertAlert(store, site, clock.now() - DAY, past)
      for (let n = 2; n <= 40; n++) await insertAlert(store, site, clock.now() - n * HOUR, { ...past, probe_id })
    }
    await fail(3)
    clock.advance(10 * MINUTE)
    await upkeep()
    assert.ok((await incidents(store)).every(({ scope }) => scope === 'site'))
  },
)

testOnEveryEngine('what fails on two sites is a fault of each', async (store, t) => {
  const { fail } = await watchSites(t, store, 2)
  await fail(2)
  assert.deepEqual(
    (await incidents(store)).map(({ scope, parent_id }) => [scope, parent_id]),
    [
      ['site', null],
      ['site', null],
    ],
  )
  assert.deepEqual(await texts(store, 'global'), ['opened pending', 'opened pending'])
})

testOnEveryEngine('sites in maintenance are part of it, and no one is notified of theirs', async (store, t) => {
  const { fail, sites, clock } = await watchSites(t, store, 6)
  const site = sites[0]
  assert.ok(site !== undefined)
  await store.write
    .insertInto('silences')
    .values({
      id: 's1',
      site_id: site.id,
      starts_at: 0,
      ends_at: clock.now() + 60 * MINUTE,
      created_at: 0,
      created_by: 'x',
    })
    .execute()
  await fail(3)
  const all = await incidents(store)
  assert.equal(all.find(({ scope }) => scope === 'vendor')?.title, 'Meta tags fail on 3 of 6 sites')
  assert.deepEqual(await texts(store, `chat:${site.client_id}`), [])
  assert.deepEqual((await texts(store, 'global')).at(-1), 'vendor_opened pending')
})

testOnEveryEngine('a client that is silenced while a vendor is being looked for gets no message', async (store, t) => {
  const { failAlsoOn, sites, clock } = await watchSites(t, store, 12)
  for (const { id } of sites.slice(0, 4)) await failAlsoOn(id)
  const client_id = sites[0]?.client_id ?? ''
  let isSilenced = false
  const stepping = steppingStore(store, async () => {
    if (isSilenced) return
    isSilenced = true
    clock.advance(1)
    const ends_at = isoTime(clock.now() + HOUR)
    await createSilence({ store, clock, actor: 'admin' }, { client_id, ends_at })
  })
  await followVendors(stepping, { globalWebhook: 'https://hooks.example/all', isEmailOn: true }, clock)
  assert.ok(isSilenced)
  const explained = async (client = '') =>
    (await texts(store, `chat:${client}`)).filter((text) => text.startsWith('explained')).length
  assert.deepEqual([await explained(client_id), await explained(sites[1]?.client_id)], [0, 1])
})

testOnEveryEngine("what is done to a vendor's incident is done to those of all its sites", async (store, t) => {
  const { fail, clock } = await watchSites(t, store, 4)
  await fail(3)
  const id = (await incidents(store)).find(({ scope }) => scope === 'vendor')?.id ?? ''
  const ctx = { store, clock, actor: 'admin' }
  const settings = { globalWebhook: 'https://hooks.example/all', isEmailOn: true }
  const states = async () => (await incidents(store)).map(({ state }) => state)
  await handleIncident(ctx, settings, id, 'acknowledge', { by: 'Ada' })
  assert.deepEqual(await states(), Array(4).fill('acknowledged'))
  await handleIncident(ctx, settings, id, 'acknowledge', { by: 'Bob' })
  assert.equal((await incidents(store)).find((one) => one.id === id)?.acknowledged_by, 'Ada')
  await handleIncident(ctx, settings, id, 'unacknowledge', {})
  assert.deepEqual(await states(), Array(4).fill('open'))
  await handleIncident(ctx, settings, id, 'resolve', {})
  assert.deepEqual(await states(), Array(4).fill('resolved'))
  assert.equal((await texts(store, 'global')).at(-1), 'vendor_resolved pending')
})

testOnEveryEngine("a vendor's incident is as bad as its worst site, when over as at its worst", async (store, t) => {
  const { fail, clock } = await watchSites(t, store, 12)
  const vendor = async () => (await incidents(store)).find(({ scope }) => scope === 'vendor')
  await fail(4, 'warning')
  assert.equal((await vendor())?.severity, 'warning')
  clock.advance(5 * MINUTE)
  await fail(4, 'critical')
  assert.equal((await vendor())?.severity, 'critical')
  const { rows } = await sql<{
    kind: string
  }>`select kind from incident_events where incident_id = ${(await vendor())?.id} order by id`.execute(store.write)
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['opened', 'explained', 'escalated'],
  )
  const [summary] = await summariesOf(
    store.write,
    await incidents(store).then((rows) => rows.filter(({ scope }) => scope === 'vendor')),
    null,
  )
  assert.deepEqual([summary?.alert_count, summary?.site_count], [4, 4])
  await fail(4, 'warning')
  await fail(4, 'critical')
  const said = (await on(store, 'global')).filter(({ text }) => text.startsWith('vendor'))
  assert.deepEqual(
    said.map(({ message }) => (JSON.parse(message) as VendorMessage).incident.severity),
    ['warning', 'critical'],
    'the operator is notified once that it has become critical',
  )
  await fail(4, 'warning')
  const severities = async () => [...new Set((await incidents(store)).map(({ severity }) => severity))]
  assert.deepEqual(await severities(), ['warning'])
  await fail(0)
  assert.deepEqual([(await vendor())?.state, ...(await severities())], ['resolved', 'critical'])
})

testLogic('that a silenced vendor has become critical is said when the silence is over', async (store, t) => {
  const { fail, upkeep, clock } = await watchSites(t, store, 12)
  await fail(4, 'warning')
  const incident_id = (await incidents(store)).find(({ scope }) => scope === 'vendor')?.id ?? ''
  const ends_at = isoTime(clock.now() + 10 * MINUTE)
  await createSilence({ store, clock, actor: 'admin' }, { incident_id, ends_at })
  await fail(4, 'critical')
  const count = async () => (await texts(store, 'global')).filter((text) => text.startsWith('vendor_opened')).length
  assert.equal(await count(), 1)
  clock.advance(10 * MINUTE)
  await upkeep()
  await upkeep()
  assert.equal(await count(), 2)
})

for (const silence of ['until it is resolved', 'for an hour']) {
  testOnEveryEngine(
    `the end of a vendor's incident that is silenced ${silence} notifies no one, nor does its return`,
    async (store, t) => {
      const { fail, clock } = await watchSites(t, store, 12)
      await fail(4)
      const incident_id = (await incidents(store)).find(({ scope }) => scope === 'vendor')?.id ?? ''
      const lasts = silence === 'for an hour' ? { ends_at: isoTime(clock.now() + HOUR) } : { until_resolved: true }
      await createSilence({ store, clock, actor: 'admin' }, { incident_id, ...lasts })
      clock.advance(5 * MINUTE)
      await fail(0)
      const said = (await texts(store, 'global')).filter((text) => text.startsWith('vendor'))
      assert.deepEqual(said, ['vendor_opened pending'])
      const events = store.read.selectFrom('incident_events').select('text').where('incident_id', '=', incident_id)
      const noted = (await events.orderBy('id').execute()).map(({ text }) => text)
      assert.ok(noted.includes('No notification: silenced'), noted.join('\n'))

      clock.advance(2 * HOUR)
      await fail(4)
      const vendor = async () => (await incidents(store)).find(({ id }) => id === incident_id)
      assert.equal((await vendor())?.state, 'open')
      const all = async () => (await texts(store, 'global')).filter((text) => text.startsWith('vendor'))
      assert.deepEqual(await all(), ['vendor_opened pending'], 'the operator believes that it lasts')
      await fail(0)
      assert.deepEqual(await all(), ['vendor_opened pending', 'vendor_resolved pending'])
    },
  )
}

testOnEveryEngine(
  "a webhook gets a vendor's end only where it got the opening, late if it is set late",
  async (store, t) => {
    const { fail, failAlsoOn, sites, clock, upkeep } = await watchSites(t, store, 12)
    const look = (globalWebhook: string | null) => followVendors(store, { globalWebhook, isEmailOn: true }, clock)
    const ofVendor = async () => (await texts(store, 'global')).filter((text) => text.startsWith('vendor'))
    for (const { id } of sites.slice(0, 4)) await failAlsoOn(id)
    await look(null)
    assert.deepEqual((await incidents(store)).filter(({ scope }) => scope === 'vendor').length, 1)
    clock.advance(MINUTE)
    await look('https://hooks.example/all')
    await look('https://hooks.example/all')
    assert.deepEqual(await ofVendor(), ['vendor_opened pending'])
    await fail(0)
    await upkeep()
    assert.deepEqual(await ofVendor(), ['vendor_opened pending', 'vendor_resolved pending'])
  },
)

testLogic('a webhook that is set after a vendor has recovered gets no end', async (store, t) => {
  const { failAlsoOn, sites, clock, find, recover } = await watchSites(t, store, 12)
  for (const { id } of sites.slice(0, 4)) await failAlsoOn(id)
  await followVendors(store, { globalWebhook: null, isEmailOn: true }, clock)
  recover()
  await find('o')
  await followVendors(store, { globalWebhook: 'https://hooks.example/all', isEmailOn: true }, clock)
  const vendor = (await incidents(store)).find(({ scope }) => scope === 'vendor')
  assert.equal(vendor?.state, 'resolved')
  assert.deepEqual(
    (await texts(store, 'global')).filter((text) => text.startsWith('vendor')),
    [],
  )
})

testOnEveryEngine("what was given up about a vendor's incident is said again while that lasts", async (store, t) => {
  const { fail, upkeep, clock } = await watchSites(t, store, 12)
  const said = async () =>
    (await on(store, 'global')).flatMap(({ text, message }) =>
      text.startsWith('vendor') ? `${text} ${(JSON.parse(message) as VendorMessage).incident.severity}` : [],
    )
  const giveUp = () =>
    store.write
      .updateTable('deliveries')
      .set({ state: 'failed', given_up_at: clock.now() })
      .where('channel', '=', 'global')
      .where('state', '=', 'pending')
      .execute()
  const later = async () => {
    clock.advance(DAY)
    for (let round = 0; round < 3; round++) await upkeep()
  }
  await fail(4, 'warning')
  await giveUp()
  await later()
  assert.deepEqual(await said(), ['vendor_opened failed warning', 'vendor_opened pending warning'])
  await deliverAll(store, clock.now())
  await fail(4, 'critical')
  await giveUp()
  await later()
  assert.deepEqual((await said()).slice(1), [
    'vendor_opened delivered warning',
    'vendor_opened failed critical',
    'vendor_opened pending critical',
  ])
  await fail(0)
  await giveUp()
  await later()
  assert.equal((await said()).length, 5, 'nothing is said of what is over')
})

testOnEveryEngine("what a service refused about a vendor's incident is said again a day later", async (store, t) => {
  const { fail, upkeep, clock } = await watchSites(t, store, 12)
  const said = async () => (await texts(store, 'global')).filter((text) => text.startsWith('vendor'))
  await fail(4)
  await store.write.updateTable('deliveries').set({ state: 'failed' }).where('kind', '=', 'vendor_opened').execute()
  clock.advance(DAY - MINUTE)
  for (let round = 0; round < 3; round++) await upkeep()
  assert.deepEqual(await said(), ['vendor_opened failed'])
  clock.advance(MINUTE)
  for (let round = 0; round < 3; round++) await upkeep()
  assert.deepEqual(await said(), ['vendor_opened failed', 'vendor_opened pending'])
})

testLogic('that a silenced vendor is back is said when the silence is over', async (store, t) => {
  const { fail, upkeep, clock } = await watchSites(t, store, 12)
  await fail(4)
  const incident_id = (await incidents(store)).find(({ scope }) => scope === 'vendor')?.id ?? ''
  await fail(0)
  await deliverAll(store, clock.now())
  clock.advance(30 * MINUTE)
  const ends_at = isoTime(clock.now() + 10 * MINUTE)
  await createSilence({ store, clock, actor: 'admin' }, { incident_id, ends_at })
  await fail(4)
  const opened = async () => (await texts(store, 'global')).filter((text) => text.startsWith('vendor_opened')).length
  assert.deepEqual([(await incidents(store)).find(({ id }) => id === incident_id)?.state, await opened()], ['open', 1])
  clock.advance(10 * MINUTE)
  for (let round = 0; round < 3; round++) await upkeep()
  assert.equal(await opened(), 2)
})

testOnEveryEngine('tags whose names say nothing are one vendor where people have said so', async (store, t) => {
  const { fail, sites } = await watchSites(t, store, 6, 'Server push')
  const said = sites.slice(0, 4).map(({ id }) => ({
    site_id: id,
    tag_key: 'Server push',
    vendor: 'Our CRM',
    created_at: 0,
    created_by: 'admin',
  }))
  await store.write.insertInto('tag_vendors').values(said).execute()
  await fail(3)
  const vendors = (await incidents(store)).filter(({ scope }) => scope === 'vendor')
  assert.deepEqual(
    vendors.map(({ title, vendor }) => [title, vendor]),
    [['Our CRM tags fail on 3 of 4 sites', 'Our CRM']],
  )
})

testOnEveryEngine(
  'the message about a vendor says what its sites have lost by the time it is sent',
  async (store, t) => {
    const { fail, clock, upkeep } = await watchSites(t, store, 4)
    await fail(3)
    const opened = async () => {
      const [found] = (await on(store, 'global')).filter(({ text }) => text === 'vendor_opened pending')
      return JSON.parse(found?.message ?? '{}') as VendorMessage
    }
    assert.equal((await opened()).incident.impact ?? null, null)
    const loss = { lost: 100, of: 400, low: 100, high: 100 }
    const impact = {
      from: 0,
      to: 1,
      final: false,
      sites: 1,
      events: null,
      key_events: [],
      share: 0.25,
      estimate: 'counted',
    }
    const cost = { ...impact, executions: loss, key_executions: [{ event_name: 'purchase', ...loss }] }
    const far = clock.now() + 60 * MINUTE
    await store.write
      .updateTable('incidents')
      .set({ impact: JSON.stringify(cost), impact_due: far })
      .where('scope', '=', 'site')
      .execute()
    await store.write.updateTable('incidents').set({ impact_due: clock.now() }).where('scope', '=', 'vendor').execute()
    await upkeep()
    assert.deepEqual((await opened()).incident.impact, {
      text: '300 of 1,200 tag executions on purchases (25 %)',
      final: false,
    })
  },
)
