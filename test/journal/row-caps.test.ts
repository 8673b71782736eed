import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overview } from '../../src/analytics/index.ts'
import { Folder } from '../../src/journal/index.ts'
import { NameBooks } from '../../src/journal/names.ts'
import type { EventPayload } from '../../src/journal/payload.ts'
import { ROWS_AT_ONCE, ROWS_PER_MINUTE, RowBudget } from '../../src/journal/row-budget.ts'
import { DAY, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, CONTAINERS_PER_DAY, LINKS_PER_DAY, NAMES_PER_DAY, OTHER } from '../../src/rollups/index.ts'
import { KEPT_CONTAINERS, KEPT_LINKS } from '../../src/rollups/retention.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { deltaOf, eventPayload, totalEvents } from '../../testkit/deltas.ts'
import { openEmptyStore, sqlite, testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { reportContext } from '../analytics/support.ts'
import { fold } from './support.ts'

const NOW = Date.parse('2026-11-20T12:00:30.000Z')
const client = () => 'client'
const many = (count: number, make: (index: number) => Partial<EventPayload>): EventPayload[] =>
  Array.from({ length: count }, (_, i) => eventPayload({ timestamp_ms: NOW, tags: [], ...make(i) }))

const rowsOf = async (store: Store, table: 'event_rollups' | 'tag_rollups' | 'event_tag_rollups') =>
  (await store.read.selectFrom(countsIn(store.read, table)).select('site_no').execute()).length

const linksIn = async (store: Store) => (await store.read.selectFrom('tag_names').select('site_no').execute()).length

testOnEveryEngine('containers over the cap of a day are counted together, and no event is missing', async (store) => {
  const site = await insertSite(store)
  const folder = new Folder(store, client)
  const count = CONTAINERS_PER_DAY + 30
  const payloads = many(count, (i) => ({
    container_id: `GTM-${i}`,
    tags: [{ id: '1', name: 'GA4', status: 'success' }],
  }))
  await fold(store, folder, payloads, site.site_no, NOW)
  // A new folder knows of no container what it does not read, like a process after its restart.
  await fold(store, new Folder(store, client), payloads, site.site_no, NOW)
  const containers = await store.read.selectFrom('site_containers').select('container_id').execute()
  assert.equal(containers.length, CONTAINERS_PER_DAY + 1)
  const rows = await store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select(['container_id', 'total'])
    .execute()
  assert.equal(rows.find((row) => row.container_id === OTHER)?.total, 60)
  assert.equal(await linksIn(store), CONTAINERS_PER_DAY, 'tags of (other) are linked to no name')
  assert.equal(await totalEvents(store, site.site_no), 2 * count)
  const report = await overview(reportContext(store, NOW + MINUTE), site, { hours: 1 })
  assert.equal(report.total_events, 2 * count)
  assert.deepEqual(
    report.tags.map(({ tag_key, executions }) => [tag_key, executions]),
    [['GA4', 2 * count]],
  )
  assert.deepEqual(
    report.warnings.map(({ code }) => code),
    ['containers_over_cap'],
  )
})

testOnEveryEngine(
  'tag ids over the cap of a day are counted by name and not linked, and the site says so',
  async (store) => {
    const site = await insertSite(store)
    const payloads = many(3, (i) => ({
      tags: Array.from({ length: 500 }, (_, j) => ({ id: `${i * 500 + j}`, name: 'GA4', status: 'success' as const })),
    }))
    await fold(store, new Folder(store, client), payloads, site.site_no, NOW)
    assert.equal(await linksIn(store), LINKS_PER_DAY + 1)
    const report = await overview(reportContext(store, NOW + MINUTE), site, { hours: 1 })
    assert.deepEqual(
      report.tags.map(({ tag_key, executions }) => [tag_key, executions]),
      [['GA4', 1_500]],
    )
    assert.deepEqual(
      report.warnings.map(({ code }) => code),
      ['tag_ids_over_cap'],
    )
  },
)

testLogic('tags over the cap of a day are counted together, and no id is linked to (other)', async (store) => {
  const { site_no } = await insertSite(store)
  const tags = Array.from({ length: NAMES_PER_DAY + 20 }, (_, i) => ({
    id: `${i}`,
    name: `Tag ${i}`,
    status: 'success' as const,
  }))
  await fold(
    store,
    new Folder(store, client),
    many(1, () => ({ tags })),
    site_no,
    NOW,
  )
  assert.equal(await rowsOf(store, 'tag_rollups'), NAMES_PER_DAY + 1)
  const links = await store.read.selectFrom('tag_names').select('tag_name').execute()
  assert.equal(links.length, NAMES_PER_DAY)
  assert.ok(links.every(({ tag_name }) => tag_name !== OTHER))
})

testOnEveryEngine(
  'new rows are bounded over minutes and names together, and every total stays exact',
  async (store) => {
    const { site_no } = await insertSite(store)
    const folder = new Folder(store, client)
    // In each of the last 800 minutes 30 names of events and 2 of tags on each: 25,600 rows of minutes, and 840 of hours.
    const minutes = 800
    const payloads = many(minutes * 30, (i) => ({
      timestamp_ms: NOW - Math.floor(i / 30) * MINUTE,
      event_name: `event ${i % 30}`,
      tags: [
        { id: '1', name: 'GA4', status: 'success' },
        { id: '2', name: 'Ads', status: 'timeout' },
      ],
    }))
    await fold(store, folder, payloads, site_no, NOW)
    const rows = (await rowsOf(store, 'event_rollups')) + (await rowsOf(store, 'tag_rollups'))
    const free = 4 * minutes
    assert.ok(rows <= ROWS_AT_ONCE + ROWS_PER_MINUTE + free, `${rows} rows`)
    const sums = await store.read
      .selectFrom(countsIn(store.read, 'tag_rollups'))
      .select((eb) => [eb.fn.sum<number>('success').as('success'), eb.fn.sum<number>('timeout').as('timeout')])
      .executeTakeFirstOrThrow()
    const pairs = await store.read
      .selectFrom(countsIn(store.read, 'event_tag_rollups'))
      .select((eb) => [eb.fn.sum<number>('success').as('success'), eb.fn.sum<number>('timeout').as('timeout')])
      .executeTakeFirstOrThrow()
    const events = await store.read
      .selectFrom(countsIn(store.read, 'event_rollups'))
      .select((eb) => eb.fn.sum<number>('events').as('events'))
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      [sums, pairs],
      [0, 1].map(() => ({ success: payloads.length, timeout: payloads.length })),
    )
    assert.equal(events.events, payloads.length)
    assert.equal(await totalEvents(store, site_no), payloads.length)
    await rollUpAll(store, NOW + DAY)
    assert.equal(await totalEvents(store, site_no, 3_600), payloads.length)
  },
)

test('existing rows cost nothing, and the budget for new ones refills by the minute', () => {
  const budget = new RowBudget()
  const admitted = (at: number, from: number, count: number) =>
    Array.from({ length: count }, (_, i) => budget.admitsMinute(at, from + i)).filter(Boolean).length
  const most = admitted(NOW, 0, 40_000)
  assert.ok(most >= ROWS_AT_ONCE && most <= ROWS_AT_ONCE + ROWS_PER_MINUTE)
  assert.equal(budget.admitsMinute(NOW, 10_000), true)
  assert.equal(budget.admitsMinute(NOW, 39_999), false)
  const next = admitted(NOW + MINUTE, 50_000, 5_000)
  assert.ok(next >= ROWS_PER_MINUTE && next <= 2 * ROWS_PER_MINUTE, `${next}`)
  assert.equal(budget.admitsMinute(NOW - MINUTE, 99_999), false)
})

test('a clock that was a day ahead leaves a site its budget for new rows once it is right', () => {
  const budget = new RowBudget()
  for (let i = 0; i < ROWS_AT_ONCE + ROWS_PER_MINUTE; i++) budget.admitsMinute(NOW + DAY, i)
  assert.equal(budget.admitsMinute(NOW + DAY, -1), false)
  // Fewer new rows a minute than are always allowed.
  const refused = Array.from({ length: 60 * 100 }, (_, i) => i).filter((i) => {
    const at = NOW + Math.floor(i / 100) * MINUTE
    return !budget.admitsMinute(at, at, i)
  })
  assert.equal(refused.length, 0)
})

testOnEveryEngine(
  'containers and links are forgotten by age and beyond a number, but for the last container',
  async (store) => {
    const site = await insertSite(store)
    const old = NOW - 401 * DAY
    const containers = Array.from({ length: KEPT_CONTAINERS + 20 }, (_, i) => ({
      site_no: site.site_no,
      container_id: `GTM-${i}`,
      last_seen_at: i < 10 ? old : NOW - DAY + i,
    }))
    const links = Array.from({ length: KEPT_LINKS + 2_500 }, (_, i) => ({
      site_no: site.site_no,
      container_id: 'GTM-A',
      tag_id: `${i}`,
      tag_name: 'GA4',
      last_seen_at: NOW - DAY + i,
    }))
    for (let i = 0; i < links.length; i += 500) {
      await store.write
        .insertInto('tag_names')
        .values(links.slice(i, i + 500))
        .execute()
    }
    await store.write.insertInto('site_containers').values(containers).execute()
    const silent = await insertSite(store)
    const lastOfSilent = { site_no: silent.site_no, container_id: 'GTM-A', last_seen_at: old }
    await store.write.insertInto('site_containers').values(lastOfSilent).execute()
    await applyRetention(store, { minuteDays: 7, hourDays: 400 }, NOW, () => true)
    const left = await store.read.selectFrom('site_containers').select(['site_no', 'last_seen_at']).execute()
    assert.equal(left.filter((row) => row.site_no === site.site_no).length, KEPT_CONTAINERS)
    assert.equal(left.filter((row) => row.last_seen_at === old).length, 1)
    assert.equal(await linksIn(store), KEPT_LINKS)
  },
)

test('books of silent sites are dropped, and read again when they send', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const books = new NameBooks(store)
  const load = (siteNo: number, now: number) =>
    books.load(deltaOf(siteNo, [eventPayload({ timestamp_ms: now })], now), [siteNo])
  for (let siteNo = 1; siteNo <= 50; siteNo++) await load(siteNo, NOW)
  assert.equal(books.size, 50)
  for (let minute = 1; minute <= 45; minute++) await load(1, NOW + minute * MINUTE)
  assert.equal(books.size, 1)
  await load(2, NOW + 46 * MINUTE)
  assert.doesNotThrow(() => books.book(2, Date.parse('2026-11-20')))
})
