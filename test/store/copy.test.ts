import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { StartupError } from '../../src/lib/index.ts'
import {
  type CopyOptions,
  copyToPostgres,
  hasUnfinishedCopy,
  migrate,
  type Store,
  StoreError,
} from '../../src/store/index.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import type { Migration } from '../../src/store/migrations/types.ts'
import { openEmptyStore, postgres, sqlite } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { fillEveryTable, NOT_COPIED, rowsOf, tableNames } from './copy-support.ts'

interface Stores {
  source: Store
  target: Store
}

async function openStores(t: TestContext): Promise<Stores> {
  const [source, target] = await Promise.all([openEmptyStore(sqlite, t), openEmptyStore(postgres, t)])
  return { source, target }
}

const run = (stores: Stores, watch: CopyOptions['watch'] = (_total, _already, copy) => copy(() => undefined)) =>
  copyToPostgres({ ...stores, watch })

async function assertCopied({ source, target }: Stores): Promise<void> {
  for (const table of await tableNames(source)) {
    if (table === 'listening') continue
    const expected = NOT_COPIED.includes(table) ? [] : await rowsOf(source, table)
    assert.deepEqual(await rowsOf(target, table), expected, table)
  }
}

const refuses = (work: Promise<unknown>, message: RegExp): Promise<void> =>
  assert.rejects(work, (thrown) => {
    assert.ok(thrown instanceof StartupError, String(thrown))
    assert.match(thrown.message, message)
    return true
  })

test('every table is copied, row by row, except those that speak of the processes on the old store', async (t) => {
  const stores = await openStores(t)
  await fillEveryTable(stores.source, 60)
  const tables = await tableNames(stores.source)
  for (const table of NOT_COPIED) assert.ok(tables.includes(table), `${table} is no table any more`)
  const seen: number[] = []
  const tallies = await run(stores, async (total, already, copy) => {
    assert.deepEqual({ total, already }, { total: 60 * (tables.length - NOT_COPIED.length), already: 0 })
    await copy((rows) => seen.push(rows))
    assert.equal(seen.at(-1), total)
  })
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  )
  await assertCopied(stores)
  assert.deepEqual(
    tallies.map(({ table }) => table).sort(),
    tables.filter((table) => !NOT_COPIED.includes(table)).sort(),
  )
  assert.deepEqual(tallies.find(({ table }) => table === 'client_usage')?.sums, {
    events: 1_830_000,
    requests: 1_830_000,
  })
  assert.equal(await hasUnfinishedCopy(stores.target.read), false)
  const { rows } = await sql<{ relname: string; reltuples: number }>`
    select relname, reltuples from pg_class where relname in ('alerts', 'deliveries')
      and relnamespace = current_schema()::regnamespace order by relname`.execute(stores.target.read)
  const planned = ['alerts', 'deliveries'].map((relname) => ({ relname, reltuples: 60 }))
  assert.deepEqual(rows, planned, 'PostgreSQL plans for as many rows as were copied')
})

test('the start of the outage is taken over, whatever a service has left on the target', async (t) => {
  const stores = await openStores(t)
  await insertSite(stores.source)
  await stores.source.write.insertInto('listening').values({ id: 1, listened_until: 5_000 }).execute()
  await stores.target.write.insertInto('listening').values({ id: 1, listened_until: 9_000 }).execute()
  await run(stores)
  assert.deepEqual(await rowsOf(stores.target, 'listening'), await rowsOf(stores.source, 'listening'))
})

test('a table that a later migration brings is copied, too', async (t) => {
  const later: Migration = {
    name: '9999-later',
    statements: ({ integer, counter, clustered }) => [
      `create table later (name text not null, part ${integer} not null, note text, hits ${counter} not null,
       primary key (name, part)) ${clustered}`,
    ],
  }
  const stores = await openStores(t)
  for (const store of [stores.source, stores.target]) {
    await migrate(store.admin, store.columnTypes, [...migrations, later])
  }
  await fillEveryTable(stores.source, 25)
  await run(stores)
  assert.equal((await rowsOf(stores.target, 'later')).length, 25)
  await assertCopied(stores)
})

test('counters that have grown past 2^53 keep their size', async (t) => {
  const stores = await openStores(t)
  const { source, target } = stores
  for (const [month, events] of [
    [202_610, 2 ** 53 - 1],
    [202_611, 2 ** 60],
    [202_612, 1e21],
  ] as const) {
    await sql`insert into client_usage (client_id, month, events, requests)
      values ('a', ${month}, ${sql.raw(events === 1e21 ? '1e21' : String(BigInt(events)))}, 1)`.execute(source.write)
  }
  await run(stores)
  const usage = await target.read.selectFrom('client_usage').select('events').orderBy('month').execute()
  assert.deepEqual(
    usage.map(({ events }) => events),
    [2 ** 53 - 1, 2 ** 60, 1e21],
  )
})

test('targets and order values with decimals are copied, although the engines round their sums differently', async (t) => {
  const stores = await openStores(t)
  const { client_id } = await insertSite(stores.source)
  for (let site = 0; site < 30; site++) {
    await insertSite(stores.source, { client_id, slo_target: 99.9, average_order_value: 12.34 + site / 10 })
  }
  await run(stores)
  await assertCopied(stores)
})

test('the number of a deleted site is not given out again', async (t) => {
  const stores = await openStores(t)
  const { source, target } = stores
  const kept = await insertSite(source)
  const deleted = await insertSite(source)
  await source.write.deleteFrom('sites').where('id', '=', deleted.id).execute()
  await run(stores)
  const next = await insertSite(target, { client_id: kept.client_id })
  assert.equal(next.site_no, deleted.site_no + 1)
})

test('wherever a copy is interrupted, it continues there and ends up the same', async (t) => {
  const stores = await openStores(t)
  await fillEveryTable(stores.source, 40)
  let interruptions = 0
  let copiedBefore = 0
  for (let isDone = false; !isDone; ) {
    // In turn before the transaction and after it, when it was committed and no answer came.
    const target = failingAtBatch(stores.target, 3, interruptions % 2 === 0)
    try {
      await run({ ...stores, target }, async (_total, already, copy) => {
        assert.ok(already >= copiedBefore)
        copiedBefore = already
        await copy(() => undefined)
      })
      isDone = true
    } catch (thrown) {
      assert.ok(thrown instanceof StoreError)
      assert.equal(await hasUnfinishedCopy(stores.target.read), true)
      interruptions++
    }
  }
  assert.ok(interruptions > 5, `${interruptions}`)
  await assertCopied(stores)
})

function failingAtBatch(store: Store, n: number, isKept: boolean): Store {
  let batches = 0
  return {
    ...store,
    async batch(operations) {
      const fails = ++batches === n
      if (!fails || isKept) await store.batch(operations)
      if (fails) throw new StoreError('unavailable', 'the connection broke')
    },
  }
}

test('a copy that is complete may be run again and changes nothing', async (t) => {
  const stores = await openStores(t)
  await fillEveryTable(stores.source, 12)
  const first = await run(stores)
  const second = await run(stores, async () => assert.fail('there is nothing to copy'))
  assert.deepEqual(second, first)
  await assertCopied(stores)
})

test('a target that holds anything else is refused and stays as it is', async (t) => {
  const stores = await openStores(t)
  await fillEveryTable(stores.source, 3)
  await insertSite(stores.target)
  await refuses(
    run(stores),
    /^the target already holds data \(rows: clients 1, sites 1\): a copy needs an empty database/,
  )
  assert.equal(await hasUnfinishedCopy(stores.target.read), false)
  assert.equal((await rowsOf(stores.target, 'clients')).length, 1)
})

test('a source without data is refused: there is nothing to copy', async (t) => {
  await refuses(run(await openStores(t)), /^the source holds nothing to copy/)
})

test('an unfinished copy is not gone on with from another store, nor when the source has changed', async (t) => {
  const stores = await openStores(t)
  await fillEveryTable(stores.source, 20)
  await assert.rejects(run({ ...stores, target: failingAtBatch(stores.target, 4, true) }), StoreError)
  const other = await openEmptyStore(sqlite, t)
  await fillEveryTable(other, 21)
  const message = /^the target holds the unfinished copy of another store, or of this one before it was changed/
  await refuses(run({ ...stores, source: other }), message)
  await stores.source.write.updateTable('client_usage').set({ events: 1 }).where('month', '=', 1_000).execute()
  await refuses(run(stores), message)
})

test('what differs at the end is named, and the copy stays marked as unfinished', async (t) => {
  const stores = await openStores(t)
  await fillEveryTable(stores.source, 5)
  const disturbed = run(stores, async (_total, _already, copy) => {
    await copy(() => undefined)
    await stores.target.write.updateTable('event_rollups').set({ email: 7 }).where('site_no', '=', 1_000).execute()
    await stores.target.write.deleteFrom('dirty_buckets').where('site_no', '=', 2_000).execute()
  })
  await refuses(
    disturbed,
    /^the copy is not the same as the source.*event_rollups\.email adds up to 15000 in the source, to 14007 in the target; dirty_buckets: 5 rows in the source, 4 in the target/,
  )
  assert.equal(await hasUnfinishedCopy(stores.target.read), true)
})

test('two copies into one target: the second one ends before it writes anything twice', async (t) => {
  const stores = await openStores(t)
  await fillEveryTable(stores.source, 30)
  await assert.rejects(
    run(stores, async (_total, _already, copy) => {
      await run(stores)
      await copy(() => undefined)
    }),
    StoreError,
  )
  await assertCopied(stores)
})
