import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import { vendorCard } from '../../../src/notifications/cards/vendor-card.ts'
import { storedAddress } from '../../../src/notifications/channel.ts'
import type { AlertMessage, VendorMessage } from '../../../src/notifications/index.ts'
import type { ProbeOutcome } from '../../../src/probes/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { insertProbe } from '../../../testkit/probes.ts'
import { hearFrom, insertSite } from '../../../testkit/sites.ts'
import { typeOf } from '../../probes/support.ts'
import { deliverAll, watch } from '../support.ts'

const OPERATOR = 'https://hooks.example/all'

interface Falling {
  /** How many clients the sites belong to, in turn; one each by default. */
  clients?: number
  /** The first of the sites that belong to the same client as this one. */
  firstOf?: (site: number) => number
  globalWebhook?: string | null
  /** What the counts of a site that falls are: too high for a rise. */
  measured?: number
  /** Why their requests are refused. */
  refused?: string
  /** When sites sent their last event before now, ms. */
  heardBefore?: (site: number) => number
  /** The type of probe that finds the falls. */
  foundBy?: 'data_volume' | 'data_freshness'
}

/** Sites with traffic whose events stop where the test says so. */
async function watchSites(t: TestContext, store: Store, count: number, over: Falling = {}) {
  const {
    clients = count,
    firstOf = (n) => n % clients,
    globalWebhook = OPERATOR,
    measured = 0,
    heardBefore = () => MINUTE,
    refused,
    foundBy = 'data_volume',
  } = over
  const falling = new Map<string, number>()
  const run = async ({ site }: { site: { id: string } }): Promise<ProbeOutcome> => {
    const startedAt = falling.get(site.id)
    if (startedAt === undefined) return { status: 'ok', message: 'fine', details: {}, findings: [] }
    const [status, message] = ['critical', 'No events arrive'] as const
    const findings = [{ subject: {}, measured, band: { low: 10, high: 20 } }]
    const details = { findings, ...(refused === undefined ? {} : { refused: { why: refused } }) }
    return { status, message, details, findings: [{ subject: {}, status, message, startedAt, details }] }
  }
  const type = typeOf(run, { name: foundBy })
  const down = new Set<string>()
  const server = typeOf(
    async ({ site }): Promise<ProbeOutcome> =>
      down.has(site.id)
        ? { status: 'critical', message: 'It is down', details: {} }
        : { status: 'ok', message: 'fine', details: {} },
    { name: 'http_health' },
  )
  const options = { type: [type, server], delivers: false, channelSettings: { globalWebhook, isEmailOn: true } }
  const seen = await watch(t, store, { probe_type: foundBy }, options)
  const sites = [seen.site]
  for (let n = 1; n < count; n++) {
    const owner = firstOf(n) === n ? {} : { client_id: sites[firstOf(n)]?.client_id ?? '' }
    const site = await insertSite(store, { name: `site-${n}`, ...owner })
    await insertProbe(store, site.id, { probe_type: foundBy })
    sites.push(site)
  }
  for (const [n, { id, client_id }] of sites.entries()) {
    await hearFrom(store, id, seen.clock.now() - heardBefore(n))
    if (firstOf(n) !== n) continue
    // What people read is merged with what follows, what machines read is not.
    const host = n % 2 === 0 ? 'hooks.slack.com/services/T0/B0' : 'hooks.example'
    const named = { name: `client-${n}`, chat_webhook: `https://${host}/${n}` }
    await store.write.updateTable('clients').set(named).where('id', '=', client_id).execute()
  }
  return {
    ...seen,
    sites,
    /** The server of this site is found down. */
    goDown: async (n: number) => {
      const id = sites[n]?.id ?? ''
      await insertProbe(store, id, { probe_type: 'http_health' })
      down.add(id)
      await seen.find('o')
    },
    /** Events stop on these sites too, now; on all others they arrive. */
    fall: async (...on: number[]) => {
      const ids = on.flatMap((n) => sites[n]?.id ?? [])
      for (const id of falling.keys()) if (!ids.includes(id)) falling.delete(id)
      for (const id of ids) falling.set(id, falling.get(id) ?? seen.clock.now())
      await seen.find('o')
      await seen.upkeep()
    },
  }
}

const first = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

const incidents = (store: Store) => store.write.selectFrom('incidents').selectAll().orderBy('id').execute()
const shared = async (store: Store) => (await incidents(store)).filter(({ scope }) => scope === 'vendor')

const messages = (store: Store) => store.write.selectFrom('deliveries').selectAll().orderBy('id').execute()

/** What the operator and the clients were sent or will be, as `kind` with its time if it is held. */
async function said(store: Store, now: number) {
  // A sender withdraws what has passed.
  const rows = (await messages(store)).filter(({ kind, state }) => kind !== 'passed' && state !== 'cancelled')
  const words = rows.map(({ channel, kind, not_before }) => ({
    isOperator: channel === 'global',
    text: not_before > now + MINUTE ? `${kind} in ${Math.round((not_before - now) / MINUTE)} min` : kind,
  }))
  const of = (isOperator: boolean) => words.flatMap((one) => (one.isOperator === isOperator ? one.text : [])).sort()
  return { operator: of(true), clients: of(false) }
}

testOnEveryEngine(
  'events that stop on nine of fourteen sites at once are one message to the operator and none to clients',
  async (store, t) => {
    const { fall, sites, clock } = await watchSites(t, store, 14)
    await fall(...first(9))
    const [incident, ...others] = await shared(store)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [incident?.title, incident?.cause, incident?.vendor, incident?.severity, incident?.client_id],
      [
        "Fewer events on 9 of 14 sites at once: look at Tagwarden's endpoint and network",
        'silence',
        'Tagwarden',
        'critical',
        null,
      ],
    )
    const parts = (await incidents(store)).filter(({ scope }) => scope === 'site')
    assert.ok(
      parts.length === 9 && parts.every(({ parent_id, vendor }) => parent_id === incident?.id && vendor === null),
    )
    const { operator, clients } = await said(store, clock.now())
    assert.deepEqual(operator, ['vendor_opened'])
    assert.deepEqual([...new Set(clients)], ['opened in 60 min'])

    const rows = await messages(store)
    const card = vendorCard(
      JSON.parse(rows.find(({ kind }) => kind === 'vendor_opened')?.message ?? '{}') as VendorMessage,
      { publicUrl: '', at: clock.now() },
    )
    assert.deepEqual(card.paragraphs, [
      "So many sites do not lose events at once by chance: look at Tagwarden's endpoint and its network first. Messages to the clients wait up to an hour, and are not sent where events return before.",
    ])
    const own = rows.find(({ channel }) => channel === `chat:${sites[1]?.client_id}`)
    const { incident: told } = JSON.parse(own?.message ?? '{}') as AlertMessage
    assert.equal(
      told?.note,
      'Other sites receive fewer events too: probably Tagwarden or its network, not your release',
    )
    for (const foreign of ['client-0', 'site-2', 'client-3', '14 sites'])
      assert.ok(own?.message.includes(foreign) === false, foreign)

    clock.advance(5 * MINUTE)
    await fall(...first(10))
    assert.match((await shared(store))[0]?.title ?? '', /^Fewer events on 10 of 14 sites at once/)
    const joined = (await messages(store)).filter(({ channel }) => channel === `chat:${sites[9]?.client_id}`)
    assert.deepEqual(
      joined.map(({ kind, not_before }) => [kind, not_before]),
      [['opened', (incident?.opened_at ?? 0) + HOUR]],
    )

    clock.advance(10 * MINUTE)
    await fall()
    assert.deepEqual(
      (await shared(store)).map(({ state, resolved_at }) => [state, resolved_at]),
      [['resolved', clock.now()]],
    )
    assert.deepEqual(await said(store, clock.now()), { operator: ['vendor_opened', 'vendor_resolved'], clients: [] })
  },
)

testLogic('events that stop on three of fourteen sites at once are the business of their clients', async (store, t) => {
  const { fall, clock } = await watchSites(t, store, 14)
  await fall(...first(3))
  assert.deepEqual(await shared(store), [])
  assert.deepEqual(await said(store, clock.now()), {
    operator: Array(3).fill('opened'),
    clients: Array(3).fill('opened'),
  })
})

testLogic('fewer than half of the sites with traffic, or than four, prove nothing', async (store, t) => {
  const { fall } = await watchSites(t, store, 14)
  await fall(...first(6))
  assert.deepEqual(await shared(store), [])
})

testLogic('sites that sent nothing for hours before are not among those that could fall', async (store, t) => {
  const { fall } = await watchSites(t, store, 14, { heardBefore: (n) => (n < 8 ? MINUTE : 5 * HOUR) })
  await fall(...first(4))
  assert.match((await shared(store))[0]?.title ?? '', /^Fewer events on 4 of 8 sites at once/)
})

testLogic('a rise on all sites at once is no fall', async (store, t) => {
  const { fall, clock } = await watchSites(t, store, 6, { measured: 50 })
  await fall(...first(6))
  assert.deepEqual(await shared(store), [])
  assert.deepEqual((await said(store, clock.now())).clients, Array(6).fill('opened'))
})

for (const refused of ['quota', 'key_revoked']) {
  testLogic(`what is refused on all sites at once for a reason of theirs is no fall (${refused})`, async (store, t) => {
    const { fall } = await watchSites(t, store, 6, { clients: 1, refused })
    await fall(...first(6))
    assert.deepEqual(await shared(store), [])
  })
}

testLogic('what this service refuses on all sites at once, overloaded, is a fall', async (store, t) => {
  const { fall } = await watchSites(t, store, 6, { refused: 'overload' })
  await fall(...first(6))
  assert.equal((await shared(store)).length, 1)
})

testLogic('clients are notified at once where the operator has no channel that works', async (store, t) => {
  const { fall, clock } = await watchSites(t, store, 6, { globalWebhook: null })
  await fall(...first(5))
  const { clients } = await said(store, clock.now())
  assert.equal((await shared(store)).length, 1)
  assert.ok(clients.length >= 5 && clients.every((text) => !text.includes(' in ')), clients.join())
})

testLogic('clients are notified at once where the channel of the operator was switched off', async (store, t) => {
  const { fall, clock } = await watchSites(t, store, 6)
  const address = storedAddress({ key: 'global', address: OPERATOR })
  const off = { channel: 'global', address, next_attempt_at: 0, failures: 9, off_since: clock.now() }
  await store.write.insertInto('channels').values(off).execute()
  await fall(...first(5))
  const { clients } = await said(store, clock.now())
  assert.ok(clients.length >= 5 && clients.every((text) => !text.includes(' in ')), clients.join())
})

testOnEveryEngine('what is held back goes to the clients after an hour, and then its end too', async (store, t) => {
  const { fall, sites, clock } = await watchSites(t, store, 6)
  await fall(...first(6))
  clock.advance(HOUR)
  await fall(...first(6))
  assert.deepEqual((await said(store, clock.now())).clients, Array(6).fill('opened'))
  await deliverAll(store, clock.now())
  await fall()
  const chat = (await messages(store)).filter(({ channel }) => channel === `chat:${sites[2]?.client_id}`)
  assert.deepEqual(
    chat.map(({ kind, state }) => `${kind} ${state}`),
    ['opened delivered', 'resolved pending'],
  )
})

testLogic('who was notified before so many sites fell reads why at once, and the end', async (store, t) => {
  const { fall, sites, clock } = await watchSites(t, store, 10)
  await fall(0, 1)
  await deliverAll(store, clock.now())
  clock.advance(4 * MINUTE)
  await fall(...first(8))
  clock.advance(4 * MINUTE)
  const of = async (n: number) => {
    const rows = (await messages(store)).filter(({ channel }) => channel === `chat:${sites[n]?.client_id}`)
    return rows.map(({ kind, not_before }) => [kind, not_before <= clock.now()])
  }
  const known = [
    ['opened', true],
    ['explained', true],
  ]
  assert.deepEqual([await of(0), await of(1)], [known, known])
  assert.deepEqual([await of(2), await of(3)], [[['opened', false]], [['opened', false]]])
  await fall()
  assert.deepEqual(
    (await of(1)).map(([kind]) => kind),
    ['opened', 'explained', 'resolved'],
  )
  assert.deepEqual(
    (await of(3)).map(([kind]) => kind),
    ['passed'],
  )
})

testLogic('what turns out to be a fault of the site itself no longer waits', async (store, t) => {
  const { fall, sites, clock, find, goDown } = await watchSites(t, store, 8)
  await fall(...first(8))
  for (const n of [2, 3]) await goDown(n)
  await find('o')
  for (const n of [2, 3]) {
    const part = (await incidents(store)).find(({ site_id }) => site_id === sites[n]?.id)
    assert.deepEqual([part?.cause, part?.parent_id], ['server', null])
    const own = (await messages(store)).filter(({ channel }) => channel === `chat:${sites[n]?.client_id}`)
    assert.ok(own.length > 0 && own.every(({ not_before }) => not_before <= clock.now() + MINUTE))
  }
})

testLogic('a site that falls more than an hour later is notified about by itself', async (store, t) => {
  const { fall, sites, clock } = await watchSites(t, store, 12)
  await fall(...first(7))
  clock.advance(HOUR + 5 * MINUTE)
  await fall(...first(8))
  const later = (await incidents(store)).find(({ site_id }) => site_id === sites[7]?.id)
  assert.equal(later?.parent_id, null)
  const own = (await messages(store)).filter(({ channel }) => channel === `chat:${sites[7]?.client_id}`)
  assert.deepEqual(
    own.map(({ kind, not_before }) => [kind, not_before < clock.now() + MINUTE]),
    [['opened', true]],
  )
})

testLogic('a fall on the sites of one client alone is its own, and holds back nothing', async (store, t) => {
  const { fall, sites, clock } = await watchSites(t, store, 6, { clients: 1 })
  await fall(...first(5))
  const [incident] = await shared(store)
  assert.equal(incident?.title, 'Fewer events on 5 of 6 sites at once')
  const { clients } = await said(store, clock.now())
  assert.ok(clients.length >= 5 && clients.every((text) => !text.includes(' in ')), clients.join())
  const notes = (await messages(store)).flatMap(({ channel, message }) =>
    channel === `chat:${sites[0]?.client_id}` ? ((JSON.parse(message) as AlertMessage).incident?.note ?? []) : [],
  )
  assert.match(notes.join(), /^Other sites of this client are affected too/)
})

testLogic('one client with most of the sites cannot hold back the messages of another', async (store, t) => {
  const { fall, clock } = await watchSites(t, store, 8, { clients: 2 })
  await fall(...first(8))
  assert.equal((await shared(store)).length, 1)
  const { clients } = await said(store, clock.now())
  assert.ok(
    clients.every((text) => !text.includes(' in ')),
    clients.join(),
  )
})

testLogic('falls that are known to the hour are one incident when they may have begun at once', async (store, t) => {
  const { fall, clock } = await watchSites(t, store, 10)
  await fall(...first(4))
  clock.advance(40 * MINUTE)
  await fall(...first(8))
  assert.equal((await shared(store)).length, 1)
})

testLogic(
  'one client with over half of the sites cannot hold back the messages of two that fall within the hour',
  async (store, t) => {
    const falling = { firstOf: (n: number) => (n < 6 ? 0 : n), foundBy: 'data_freshness' } as const
    const { fall, clock, sites } = await watchSites(t, store, 10, falling)
    await fall(...first(6))
    clock.advance(20 * MINUTE)
    await fall(...first(8))
    assert.deepEqual(await shared(store), [])
    const own = [6, 7].map((n) => `chat:${sites[n]?.client_id}`)
    const due = (await messages(store)).filter(({ channel }) => own.includes(channel))
    assert.deepEqual(
      due.map(({ kind, not_before }) => [kind, not_before <= clock.now() + MINUTE]),
      Array(2).fill(['opened', true]),
    )
  },
)
