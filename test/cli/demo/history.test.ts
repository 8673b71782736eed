import assert from 'node:assert/strict'
import { folderFor, gapsOf, settle, writeHistory } from '../../../src/cli/demo/history.ts'
import { incidentsAround } from '../../../src/cli/demo/incidents.ts'
import { ensureDemoSites } from '../../../src/cli/demo/sites.ts'
import { COFFEE, FASHION } from '../../../src/cli/demo/world.ts'
import { DAY, HOUR } from '../../../src/lib/index.ts'
import { applyRetention, GRAIN } from '../../../src/rollups/index.ts'
import type { Store } from '../../../src/store/index.ts'
import { countsIn } from '../../../testkit/counts.ts'
import { totalEvents } from '../../../testkit/deltas.ts'
import { logicEngines, openEmptyStore, testLogic, testPerEngine } from '../../../testkit/engines.ts'
import { insertSite } from '../../../testkit/sites.ts'

const TO = Date.parse('2026-11-20T09:40:00Z')
const FROM = TO - 3 * DAY
const PROFILES = [FASHION, COFFEE]
const retention = { minuteDays: 2, hourDays: 400 }
const clock = { now: () => FROM }

async function fill(store: Store, to: number, step: (filledTo: number) => void = () => undefined): Promise<number> {
  const sites = await ensureDemoSites(store, clock, 'the folder', PROFILES)
  const folder = await folderFor(store)
  const gaps = await gapsOf(store, sites, FROM)
  return writeHistory({ folder, gaps, incidents: incidentsAround(TO), seed: 'test', retention, to }, step)
}

/**
 * Every row of the site that sends one request per event, but for minutes: where batches are cut depends on where a history began, and which minutes are
 * of the last day on where it ended.
 */
const rowsOf = (store: Store): Promise<unknown[]> =>
  store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .selectAll()
    .where('container_id', '=', FASHION.serverContainerId)
    .where('grain', '>', GRAIN.minute)
    .orderBy('grain')
    .orderBy('bucket')
    .orderBy('event_name')
    .execute()

/** Writing it takes seconds: what is asked of a whole one is asked of the same. A demo that someone starts is on SQLite. */
testPerEngine(
  'three days of history',
  async (engine, t) => {
    const store = await openEmptyStore(engine, t)
    const steps: number[] = []
    const written = await fill(store, TO, (filledTo) => steps.push(filledTo))
    const title = (behaviour: string) => `${behaviour} (${engine.name})`

    await t.test(
      title('the last day and what is around incidents is counted by the minute, and quiet times by five'),
      async () => {
        const [site] = await ensureDemoSites(store, clock, 'the folder', PROFILES)
        const buckets = await store.read
          .selectFrom(countsIn(store.read, 'event_rollups'))
          .select('bucket')
          .distinct()
          .where('site_no', '=', site?.row.site_no ?? 0)
          .where('grain', '=', GRAIN.minute)
          .execute()
        const minutesIn = (from: number) =>
          new Set(buckets.filter(({ bucket }) => bucket >= from && bucket < from + HOUR).map(({ bucket }) => bucket))
            .size
        const hour = TO - (TO % HOUR)
        assert.ok(minutesIn(hour - 20 * HOUR) > 40)
        assert.equal(minutesIn(hour - 30 * HOUR), 12)
        // It lost its Meta tags 40 minutes ago, and nothing else in these days.
        assert.ok(minutesIn(hour - HOUR) > 40)
      },
    )

    await settle(store, TO, () => undefined)
    await t.test(title('a history that was cut off and went on is the same as one in a single go'), async (t) => {
      const cut = await openEmptyStore(engine, t)
      const first = await fill(cut, TO - DAY - 7 * HOUR - 123_456)
      const second = await fill(cut, TO)
      assert.ok(first > 0 && second > 0)
      assert.equal(await fill(cut, TO), 0)
      await settle(cut, TO, () => undefined)
      assert.deepEqual(await rowsOf(cut), await rowsOf(store))
    })

    await applyRetention(store, retention, TO, () => true)
    await t.test(title('a history is counted, rolled up and kept as if it had been sent'), async () => {
      assert.ok(written > 50_000, `${written}`)
      assert.equal(steps.at(-1), TO)
      const sites = await ensureDemoSites(store, clock, 'the folder', PROFILES)
      let total = 0
      for (const { row } of sites) {
        const inMinutes = await totalEvents(store, row.site_no, 60)
        const inHours = await totalEvents(store, row.site_no, 3_600)
        assert.ok(inMinutes > 0 && inMinutes < inHours, 'minute rows are kept for two of three days')
        const open = await store.read
          .selectFrom(countsIn(store.read, 'event_rollups'))
          .select((eb) => eb.fn.sum<number>('total').as('total'))
          .where('site_no', '=', row.site_no)
          .where('grain', '=', 60)
          .where('bucket', '>=', TO - (TO % HOUR))
          .executeTakeFirstOrThrow()
        total += inHours + open.total
      }
      assert.equal(total, written)
      const usage = await store.read
        .selectFrom('client_usage')
        .select((eb) => eb.fn.sum<number>('events').as('events'))
        .executeTakeFirstOrThrow()
      assert.equal(usage.events, written)
    })
  },
  logicEngines,
)

testLogic('the demo makes its clients and sites once', async (store) => {
  const first = await ensureDemoSites(store, clock, 'the folder', PROFILES)
  const second = await ensureDemoSites(store, clock, 'the folder', PROFILES)
  assert.deepEqual(second, first)
  assert.deepEqual(
    first.map(({ row }) => [row.name, row.timezone, row.created_at]),
    PROFILES.map(({ name, timezone }) => [name, timezone, FROM]),
  )
  assert.equal((await store.read.selectFrom('clients').selectAll().execute()).length, 1)
})

testLogic('a demo deletes and renames nothing that its user did, and makes again what is missing', async (store) => {
  const [fashion] = await ensureDemoSites(store, clock, 'the folder', PROFILES)
  await store.write
    .deleteFrom('sites')
    .where('tag_manager_server_container_id', '=', COFFEE.serverContainerId)
    .execute()
  await store.write.updateTable('sites').set({ name: 'Renamed' }).execute()
  await store.write.updateTable('clients').set({ name: 'Renamed' }).execute()
  await insertSite(store)
  const clients = () => store.read.selectFrom('clients').select(['id', 'name']).orderBy('id').execute()
  const before = await clients()
  const again = await ensureDemoSites(store, clock, 'the folder', PROFILES)
  assert.deepEqual(await clients(), before)
  assert.deepEqual(
    again.map(({ row }) => row.name),
    ['Renamed', COFFEE.name],
  )
  assert.equal(again[0]?.row.id, fashion?.row.id)
})

testLogic('a store with clients of its own is refused', async (store) => {
  await insertSite(store)
  await assert.rejects(ensureDemoSites(store, clock, './data', PROFILES), {
    name: 'StartupError',
    message: './data holds clients that no demo made: give the demo another --data-dir',
  })
})
