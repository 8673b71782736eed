import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containersOf } from '../../src/analytics/site-facts.ts'
import { appendDelta, appendPayload, Folder, foldJournal, type Log } from '../../src/journal/index.ts'
import type { EventPayload } from '../../src/journal/payload.ts'
import { DAY } from '../../src/lib/index.ts'
import { applyRetention, CLIENTS_PER_DAY, removeDeletedSites } from '../../src/rollups/index.ts'
import { requestRemovals } from '../../src/rollups/removal.ts'
import type { Store } from '../../src/store/index.ts'
import { addTo, contentsOf, deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { batch } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { deltaOfLog, fold, logOf } from './support.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const claimed = (clients: string[], over: Partial<EventPayload> = {}) =>
  eventPayload({ timestamp_ms: NOW, tags: [], container: { clients }, ...over })

const rowsOf = (store: Store) =>
  store.read
    .selectFrom('container_clients')
    .select(['container_id', 'client_name', 'first_seen_at', 'last_seen_at'])
    .orderBy('container_id')
    .orderBy('client_name')
    .execute()

test('clients come back from the journal as they went in, with a version and without one', () => {
  for (const container of [
    { clients: ['GA4', '=', '+'] },
    { version: '7', environment: 'Live', clients: ['GA4', 'GA4', ''] },
  ]) {
    for (const payload of [claimed([], { container }), batch(NOW, { container })]) {
      const delta = deltaOfLog(logOf(payload, NOW))
      const written: Log = []
      appendDelta(written, delta)
      const read = deltaOfLog(JSON.parse(JSON.stringify(written)) as Log)
      assert.deepEqual(contentsOf(read.sites.get(1)?.cells), contentsOf(delta.sites.get(1)?.cells))
      const names = [...(delta.sites.get(1)?.cells[0]?.clients?.keys() ?? [])]
      assert.deepEqual(
        names,
        [...new Set(container.clients)].filter((name) => name !== ''),
      )
    }
  }
})

test('a payload that names no client is written as it was before they were known', () => {
  const plain = logOf(eventPayload({ timestamp_ms: NOW }), NOW)
  for (const clients of [[], ['']])
    assert.deepEqual(logOf(eventPayload({ timestamp_ms: NOW, container: { clients } }), NOW), plain)
})

test('a program of the version before stops at clients instead of counting wrong', () => {
  const log = logOf(claimed(['GA4']), NOW)
  // Where it reads the number of events it finds a text.
  assert.equal(log[log.indexOf('GTM-ABC1234') + 1], '=')
})

test('a client that comes twice before a fold keeps its first and last time, whatever the order', () => {
  for (const times of [
    [NOW, NOW + 5_000],
    [NOW + 5_000, NOW],
  ]) {
    const log: Log = []
    for (const time of times) appendPayload(log, 1, claimed(['GA4']), time)
    const [cell] = deltaOfLog(log).sites.get(1)?.cells ?? []
    assert.deepEqual(cell?.clients?.get('GA4'), { name: 'GA4', firstSeenAt: NOW, lastSeenAt: NOW + 5_000 })
  }
})

testOnEveryEngine(
  'each client of a container is noted with its first and last time, whatever the order',
  async (store) => {
    const { site_no } = await insertSite(store)
    const folder = new Folder(store, () => 'client')
    await fold(store, folder, [claimed(['GA4'])], site_no, NOW)
    await fold(store, folder, [claimed(['GA4', 'Data Client'])], site_no, NOW + 5_000)
    await fold(store, folder, [claimed(['GA4'])], site_no, NOW - 5_000)
    assert.deepEqual(
      (await rowsOf(store)).map((row) => [row.client_name, row.first_seen_at, row.last_seen_at]),
      [
        ['Data Client', NOW + 5_000, NOW + 5_000],
        ['GA4', NOW, NOW + 5_000],
      ],
    )
  },
)

testOnEveryEngine(
  'a fold of two sites adds up their client’s usage, and notes a version’s first and last time',
  async (store) => {
    const versioned = (siteNo: number, at: number) =>
      deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW, container: { version: '7' } })], at)
    const delta = versioned(1, NOW)
    addTo(delta, versioned(1, NOW + 5_000))
    addTo(delta, versioned(2, NOW))
    await writeJournal(store, 'node', 1, delta)
    await foldJournal(store, new Folder(store, () => 'client'), { nodeId: 'node' })
    const usage = await store.read.selectFrom('client_usage').select(['events', 'requests']).execute()
    assert.deepEqual(usage, [{ events: 3, requests: 3 }])
    const versions = store.read.selectFrom('container_versions').select(['site_no', 'first_seen_at', 'last_seen_at'])
    assert.deepEqual(await versions.orderBy('site_no').execute(), [
      { site_no: 1, first_seen_at: NOW, last_seen_at: NOW + 5_000 },
      { site_no: 2, first_seen_at: NOW, last_seen_at: NOW },
    ])
  },
)

testOnEveryEngine('the report names the clients of each container, the latest first', async (store) => {
  const { site_no } = await insertSite(store)
  const folder = new Folder(store, () => 'client')
  await fold(store, folder, [claimed(['GA4']), claimed([], { container_id: 'GTM-OTHER' })], site_no, NOW)
  await fold(store, folder, [claimed(['Data Client'])], site_no, NOW + 5_000)
  const containers = await containersOf(store.read, site_no)
  assert.deepEqual(
    containers.map(({ container_id, clients }) => [container_id, clients.map(({ name }) => name)]),
    [
      ['GTM-ABC1234', ['Data Client', 'GA4']],
      ['GTM-OTHER', []],
    ],
  )
})

testOnEveryEngine(
  'a sender that makes up clients fills no more than a day’s share, and its counts stay',
  async (store) => {
    const { site_no } = await insertSite(store)
    const folder = new Folder(store, () => 'client')
    const made = Array.from({ length: 30 }, (_, n) =>
      claimed(Array.from({ length: 10 }, (_none, k) => `made up ${n}-${k}`)),
    )
    await fold(store, folder, made, site_no, NOW)
    assert.equal((await rowsOf(store)).length, CLIENTS_PER_DAY)
    assert.equal(await totalEvents(store, site_no), 30)
  },
)

testOnEveryEngine('clients go with their age and with the site', async (store) => {
  const site = await insertSite(store)
  const folder = new Folder(store, () => 'client')
  await fold(store, folder, [claimed(['GA4'])], site.site_no, NOW)
  await fold(store, folder, [claimed(['Data Client'])], site.site_no, NOW + DAY)
  await applyRetention(store, { minuteDays: 7, hourDays: 30 }, NOW + 40 * DAY, () => true)
  assert.deepEqual(await rowsOf(store), [])
  await fold(store, folder, [claimed(['GA4'])], site.site_no, NOW)
  await store.write.transaction().execute((trx) => requestRemovals(trx, [site], NOW))
  await removeDeletedSites(store, NOW, () => true)
  assert.deepEqual(await rowsOf(store), [])
})
