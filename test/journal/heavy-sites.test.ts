import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Delta, Folder, foldJournal, foldOrphans } from '../../src/journal/index.ts'
import type { EventPayload } from '../../src/journal/payload.ts'
import { LINKS_PER_DAY } from '../../src/rollups/index.ts'
import { type Store, StoreError } from '../../src/store/index.ts'
import { addTo, deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { newDatabase, openOn } from '../store/postgres/support.ts'
import { CONTAINERS, executions, manyTags, NOW, oneEvent, TAGS, watchedRows } from './heavy-support.ts'

testOnEveryEngine('a site with very many names is spilled, and the others are visible before it', async (store) => {
  const [heavy, light] = [await insertSite(store), await insertSite(store)]
  const clients = new Map([heavy, light].map((site) => [site.site_no, site.client_id]))
  const delta = manyTags(heavy.site_no)
  addTo(delta, oneEvent(light.site_no))
  await writeJournal(store, 'node', 1, delta)
  const watched = watchedRows(store)
  await foldJournal(watched.store, new Folder(watched.store, (siteNo) => clients.get(siteNo)), { nodeId: 'node' })
  assert.equal(await totalEvents(store, light.site_no), 1)
  assert.equal(await totalEvents(store, heavy.site_no), 0)
  // Quotas do not wait for it.
  const usage = () =>
    store.read.selectFrom('client_usage').select('events').where('client_id', '=', heavy.client_id).executeTakeFirst()
  assert.equal((await usage())?.events, CONTAINERS)

  await foldOrphans(watched.store, ['node'])
  assert.equal(await totalEvents(store, heavy.site_no), CONTAINERS)
  for (const table of ['tag_rollups', 'event_tag_rollups'] as const) {
    assert.equal(await executions(store, heavy.site_no, table), CONTAINERS * TAGS)
  }
  assert.equal((await usage())?.events, CONTAINERS)
  for (const table of ['container_versions', 'container_clients'] as const) {
    const seen = await store.read.selectFrom(table).select('container_id').execute()
    assert.deepEqual(seen, [{ container_id: 'container 0' }], table)
  }
  const names = await store.read.selectFrom('tag_names').select('tag_id').execute()
  // As many as a site may link on a day, with a note that there were more, and the other site's one.
  assert.equal(names.length, LINKS_PER_DAY + 2)
  assert.deepEqual(await store.read.selectFrom('journal').select('seq').execute(), [])
  assert.ok(watched.most() < 10_000, `${watched.most()} rows in one transaction`)
})

testOnEveryEngine(
  'a site whose names are too many for a day, not for a fold, is visible with the others',
  async (store) => {
    const { site_no, client_id } = await insertSite(store)
    const folder = new Folder(store, () => client_id)
    const events = 200
    // A container, an event name and 60 tags of its own each; the second time all the names of the day are taken.
    const payloads = (round: number) =>
      Array.from({ length: events }, (_, event) =>
        eventPayload({
          timestamp_ms: NOW,
          container_id: `container ${round} ${event}`,
          event_name: `event ${round} ${event}`,
          tags: Array.from({ length: 60 }, (_, tag) => ({
            id: `${tag}`,
            name: `tag ${round} ${event} ${tag}`,
            status: 'success',
          })),
        }),
      )
    for (const round of [1, 2, 3, 4]) await foldPayloads(store, folder, site_no, round, payloads(round))
    await foldOrphans(store, ['node'])
    const watched = watchedRows(store)
    await foldPayloads(watched.store, folder, site_no, 5, payloads(5))
    assert.equal(await totalEvents(store, site_no), 5 * events)
    for (const table of ['tag_rollups', 'event_tag_rollups'] as const) {
      assert.equal(await executions(store, site_no, table), 5 * events * 60)
    }
    assert.ok(watched.most() < 20, `${watched.most()} rows in one transaction`)
    assert.deepEqual(await store.read.selectFrom('journal').select('seq').execute(), [])
  },
)

async function foldPayloads(store: Store, folder: Folder, siteNo: number, seq: number, payloads: EventPayload[]) {
  await writeJournal(store, 'node', seq, deltaOf(siteNo, payloads, NOW))
  await foldJournal(store, folder, { nodeId: 'node' })
}

testOnEveryEngine(
  'counts that were spilled are counted once when their fold is tried again after a failure',
  async (store) => {
    const { site_no, client_id } = await insertSite(store)
    const other = await insertSite(store)
    const delta = manyTags(site_no)
    addTo(delta, oneEvent(other.site_no))
    await writeJournal(store, 'node', 1, delta)
    let calls = 0
    const failing: Store = {
      ...store,
      // The second transaction of the fold, and each third one of what is spilled.
      batch: (operations) =>
        ++calls % 3 === 2 ? Promise.reject(new StoreError('busy', 'timeout')) : store.batch(operations),
    }
    const fold = async () => {
      const folder = new Folder(failing, () => client_id, { rowsPerChunk: 1 })
      await foldJournal(failing, folder, { nodeId: 'node' })
      await foldOrphans(failing, ['node'])
    }
    for (let tries = 0; tries < 100; tries++) await fold().catch((thrown) => assert.match(String(thrown), /timeout/))
    await foldOrphans(store, [])
    assert.equal(await executions(store, site_no, 'tag_rollups'), CONTAINERS * TAGS)
    assert.equal(await totalEvents(store, other.site_no), 1)
  },
)

testOnEveryEngine('after a failure less is folded at once, and after successes as much as before', async (store) => {
  for (let seq = 1; seq <= 64; seq++) await writeJournal(store, 'node', seq, oneEvent(7))
  for (let siteNo = 8; siteNo <= 2_000; siteNo += 100) {
    const delta = new Delta()
    for (let offset = 0; offset < 100; offset++) addTo(delta, oneEvent(siteNo + offset))
    await writeJournal(store, 'node', 100 + siteNo, delta)
  }
  let isTooSlow = true
  const rows: number[] = []
  const slow: Store = {
    ...store,
    batch(operations) {
      if (isTooSlow) return Promise.reject(new StoreError('busy', 'canceling statement due to statement timeout'))
      rows.push(operations.length)
      return store.batch(operations)
    },
  }
  const folder = new Folder(slow, () => 'client')
  const shares = () => folder.pace.of(64)
  assert.equal(shares(), 64)
  for (const share of [32, 16, 8, 4, 2, 1, 1]) {
    await assert.rejects(foldJournal(slow, folder, { nodeId: 'node' }), /timeout/)
    assert.equal(shares(), share)
  }
  isTooSlow = false
  await foldJournal(slow, folder, { nodeId: 'node' })
  assert.equal(shares(), 64)
  assert.equal(await totalEvents(store, 7), 64)
})

test('an upsert of many rows is several statements, each within the time limit of one', async (t) => {
  const url = await newDatabase(t)
  const store = await openOn(t, url)
  const spec = {
    table: 'client_usage',
    keys: ['client_id', 'month'],
    sums: ['events', 'requests'],
    maxima: [],
    fixed: [],
  } as const
  const values = Array.from({ length: 25_000 }, (_, row) => [`client ${row % 24_000}`, 1, 1, 1]).flat()
  await store.batch([{ kind: 'upsert', spec, values }])
  const found = await store.read
    .selectFrom('client_usage')
    .select(({ fn }) => [fn.countAll<number>().as('rows'), fn.sum<number>('events').as('events')])
    .executeTakeFirstOrThrow()
  assert.deepEqual([Number(found.rows), Number(found.events)], [24_000, 25_000])
})
