import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendDelta, Folder, type Log } from '../../src/journal/index.ts'
import type { EventPayload } from '../../src/journal/payload.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, FIELDS_PER_DAY, NAMES_PER_DAY, OTHER, removeDeletedSites } from '../../src/rollups/index.ts'
import { requestRemovals } from '../../src/rollups/removal.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { contentsOf, eventPayload, numbersOf } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { batch } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { watchedRows } from './heavy-support.ts'
import { deltaOfLog, fold, logOf } from './support.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const client = () => 'client'
function fieldsIn(log: Log, name = 'purchase') {
  const fields = deltaOfLog(log).sites.get(1)?.cells[0]?.events.get(name)?.fields
  return fields && new Map(Array.from(fields, ([field, counts]) => [field, numbersOf(counts)]))
}

const named = (fields: Record<string, boolean>, over: Partial<EventPayload> = {}) =>
  eventPayload({ timestamp_ms: NOW, tags: [], fields, ...over })

interface Row {
  event_name: string
  field: string
  present: number
  total: number
}

const rowsOf = (store: Store, grain = 60): Promise<Row[]> =>
  store.read
    .selectFrom(countsIn(store.read, 'field_rollups'))
    .select(['event_name', 'field', 'present', 'total'])
    .where('grain', '=', grain)
    .orderBy('event_name')
    .orderBy('field')
    .execute()

test('an event counts each parameter that it names, there or not', () => {
  assert.deepEqual(
    [...(fieldsIn(logOf(named({ coupon: true, group: false }), NOW)) ?? [])],
    [
      ['coupon', [1, 1]],
      ['group', [0, 1]],
    ],
  )
})

test('an event that names none, and one with an empty list, are written as they were before there were parameters', () => {
  const plain = logOf(eventPayload({ timestamp_ms: NOW }), NOW)
  assert.deepEqual(logOf(eventPayload({ timestamp_ms: NOW, fields: {} }), NOW), plain)
  assert.equal(plain.includes('='), false)
  assert.equal(fieldsIn(plain), undefined)
})

test('a batch counts what it says, and nothing of a parameter that no event of it names', () => {
  const log = logOf(
    batch(NOW, { total_events: 9, fields: { coupon: { present: 3, total: 8 }, gone: { present: 0, total: 0 } } }),
    NOW,
  )
  assert.deepEqual([...(fieldsIn(log, '') ?? [])], [['coupon', [3, 8]]])
})

test('parameters come back from the journal as they went in, alone and with all signals', () => {
  const full = named({ coupon: true }, { consent: { ad_storage: 'denied' }, tags: [{ id: '1', status: 'success' }] })
  for (const payload of [named({ coupon: true, '+': false, '=': true }), full, { ...full, weight: 10 }]) {
    const delta = deltaOfLog(logOf(payload, NOW))
    const written: Log = []
    appendDelta(written, delta)
    const read = deltaOfLog(JSON.parse(JSON.stringify(written)) as Log)
    assert.deepEqual(contentsOf(read.sites.get(1)?.cells), contentsOf(delta.sites.get(1)?.cells))
  }
})

test('an event that stands for seven counts its parameters seven times', () => {
  assert.deepEqual(fieldsIn(logOf(named({ coupon: true, group: false }, { weight: 7 }), NOW))?.get('coupon'), [7, 7])
})

test('a program of the version before stops at parameters instead of counting wrong', () => {
  const log = logOf(named({ coupon: true }), NOW)
  // Where it reads a mask or the count of tags it finds a text.
  assert.equal(typeof log[log.indexOf('purchase') + 1], 'string')
})

testOnEveryEngine('senders that name no parameters have no rows of them', async (store) => {
  const { site_no } = await insertSite(store)
  await fold(store, new Folder(store, client), [eventPayload({ timestamp_ms: NOW })], site_no, NOW)
  assert.deepEqual(await rowsOf(store), [])
})

testOnEveryEngine(
  'minutes become hours and days, go with their age, and all of it goes with the site',
  async (store) => {
    const site = await insertSite(store)
    const folder = new Folder(store, client)
    await fold(
      store,
      folder,
      [named({ coupon: true }), named({ coupon: false }), named({ coupon: true })],
      site.site_no,
      NOW,
    )
    await fold(store, folder, [named({ coupon: true }, { timestamp_ms: NOW - HOUR })], site.site_no, NOW)
    await rollUpAll(store, NOW + 3 * DAY)
    const one = (present: number, total: number) => ({ event_name: 'purchase', field: 'coupon', present, total })
    assert.deepEqual(await rowsOf(store, 3_600), [one(1, 1), one(2, 3)])
    assert.deepEqual(await rowsOf(store, 86_400), [one(3, 4)])
    await applyRetention(store, { minuteDays: 7, hourDays: 400 }, NOW + 9 * DAY, () => true)
    assert.deepEqual(await rowsOf(store), [])
    assert.deepEqual(await rowsOf(store, 86_400), [one(3, 4)])
    await applyRetention(store, { minuteDays: 7, hourDays: 30 }, NOW + 40 * DAY, () => true)
    assert.deepEqual(await rowsOf(store, 86_400), [])
    await fold(store, folder, [named({ coupon: true })], site.site_no, NOW)
    await store.write.transaction().execute((trx) => requestRemovals(trx, [site], NOW))
    await removeDeletedSites(store, NOW + MINUTE, () => true)
    assert.deepEqual(await rowsOf(store), [])
  },
)

testOnEveryEngine('a parameter that is named (other) takes no place among the names of the day', async (store) => {
  const { site_no } = await insertSite(store)
  await fold(store, new Folder(store, client), [named({ [OTHER]: true, coupon: true })], site_no, NOW)
  assert.deepEqual(
    (await rowsOf(store)).map(({ field, present }) => [field, present]),
    [
      [OTHER, 1],
      ['coupon', 1],
    ],
  )
  const books = await store.read.selectFrom('daily_names').select('name').where('kind', '=', 'field').execute()
  assert.equal(books.length, 1)
})

testOnEveryEngine('names are stored as they can be, and those that become one are counted as one', async (store) => {
  const { site_no } = await insertSite(store)
  const long = '"\u0001ß'.repeat(85)
  await fold(store, new Folder(store, client), [named({ 'a\0b': true, 'a\ufffdb': false, [long]: true })], site_no, NOW)
  const rows = await rowsOf(store)
  assert.deepEqual(
    rows.map(({ field, present, total }) => [field, present, total]).sort(),
    [
      [long, 1, 1],
      ['a\ufffdb', 1, 2],
    ].sort(),
  )
})

testOnEveryEngine(
  'names without end become one on each event, over folds and restarts, and no count is lost',
  async (store) => {
    const { site_no } = await insertSite(store)
    const watched = watchedRows(store)
    const sent = 90
    const hostile = (round: number) =>
      Array.from({ length: sent }, (_, i) =>
        named(Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`${round} ${i} ${j}`, true]))),
      )
    // The second time by a folder that knows only what it reads, as after a restart.
    for (const round of [1, 2])
      await fold(watched.store, new Folder(watched.store, client), hostile(round), site_no, NOW)
    const rows = await rowsOf(store)
    assert.equal(rows.length, FIELDS_PER_DAY + 1)
    assert.equal(rows.find(({ field }) => field === OTHER)?.total, 2 * sent * 20 - FIELDS_PER_DAY)
    assert.ok(rows.every(({ event_name }) => event_name === 'purchase'))
    const books = await store.read.selectFrom('daily_names').select('name').where('kind', '=', 'field').execute()
    assert.equal(books.length, FIELDS_PER_DAY)
    assert.ok(watched.most() < 5_000, `${watched.most()} rows in one transaction`)
  },
)

testOnEveryEngine(
  'one event with very many names in one fold is spilled in pieces, and its counts stay exact',
  async (store) => {
    const { site_no } = await insertSite(store)
    const watched = watchedRows(store)
    const folder = new Folder(watched.store, client, { heavySite: 500 })
    const payloads = Array.from({ length: 200 }, (_, i) =>
      named(Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`${i} ${j}`, j % 2 === 0])), {
        timestamp_ms: NOW - (i % 50) * MINUTE,
        event_name: `event ${i % 3}`,
      }),
    )
    await fold(watched.store, folder, payloads, site_no, NOW)
    const rows = await rowsOf(store)
    assert.equal(
      rows.reduce((sum, { total }) => sum + total, 0),
      200 * 20,
    )
    assert.equal(
      rows.reduce((sum, { present }) => sum + present, 0),
      200 * 10,
    )
    assert.deepEqual(await store.read.selectFrom('journal').select('seq').execute(), [])
  },
)

testOnEveryEngine(
  'rows of parameters are bounded over minutes and names together, and every count stays',
  async (store) => {
    const { site_no } = await insertSite(store)
    const folder = new Folder(store, client)
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`parameter ${j}`, true]))
    // 1,380 minutes of 20 parameters are 27,600 rows beside those of the events: more than a site may add at once.
    const payloads = Array.from({ length: 1_380 }, (_, i) => named(fields, { timestamp_ms: NOW - i * MINUTE }))
    await fold(store, folder, payloads, site_no, NOW)
    const rows = await rowsOf(store)
    assert.ok(rows.length < 22_500, `${rows.length} rows`)
    assert.ok(rows.some(({ event_name, field }) => event_name === OTHER && field === OTHER))
    assert.equal(
      rows.reduce((sum, { total }) => sum + total, 0),
      1_380 * 20,
    )
  },
)

testOnEveryEngine(
  'a parameter on event names over the cap of the day is counted on what these become',
  async (store) => {
    const { site_no } = await insertSite(store)
    const payloads = Array.from({ length: NAMES_PER_DAY + 100 }, (_, i) =>
      named({ coupon: true }, { event_name: `event ${i}` }),
    )
    await fold(store, new Folder(store, client), payloads, site_no, NOW)
    const rows = await rowsOf(store)
    assert.equal(rows.length, NAMES_PER_DAY + 1)
    assert.deepEqual(
      rows.filter(({ event_name }) => event_name === OTHER),
      [{ event_name: OTHER, field: 'coupon', present: 100, total: 100 }],
    )
  },
)

testOnEveryEngine('processes that share a database share the cap of the day', async (store) => {
  if (!store.isShared) return // one process only
  const { site_no } = await insertSite(store)
  const folders = [new Folder(store, client), new Folder(store, client)]
  const many = (from: string) =>
    Array.from({ length: 35 }, (_, i) =>
      named(Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`${from} ${i} ${j}`, true]))),
    )
  // Both know the book when the first admits 700 pairs, and the second is to see them before it admits more.
  for (const folder of folders) await fold(store, folder, [named({ coupon: true })], site_no, NOW)
  for (const [index, folder] of folders.entries()) await fold(store, folder, many(`${index}`), site_no, NOW)
  const rows = await rowsOf(store)
  assert.equal(rows.length, FIELDS_PER_DAY + 1)
  assert.equal(
    rows.reduce((sum, { total }) => sum + total, 0),
    2 + 2 * 35 * 20,
  )
})
