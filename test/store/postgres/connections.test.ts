import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Store } from '../../../src/store/index.ts'
import { until } from '../../../testkit/until.ts'
import { backendOf, journalRow, journalSeqs, newDatabase, ofKind, openOn, terminate, wireTo } from './support.ts'

/** Long enough for a busy machine to answer in, short enough to wait for. */
const QUICK = { connect: 500, commit: 500, statement: 500, report: 700, silence: 100 }

/** Something of everything that a store does. */
async function useAll(store: Store, seq: number): Promise<void> {
  await store.batch([journalRow(store, seq)])
  await store.batch([journalRow(store, seq + 1), journalRow(store, seq + 2)])
  await store.write.transaction().execute((trx) => trx.deleteFrom('leases').execute())
  for (const db of [store.read, store.reports, store.interactive, store.admin]) {
    assert.equal((await db.selectFrom('journal').select('seq').where('seq', '>=', seq).execute()).length, 3)
  }
}

/** Waits until all of it works again: on a busy machine a new connection may take longer than the tests let it. */
async function untilUsable(store: Store, seq: number): Promise<void> {
  let first = seq
  await until('the store can be used again', async () => {
    first += 3
    try {
      await useAll(store, first)
      return true
    } catch (thrown) {
      ofKind('unavailable')(thrown)
      return undefined
    }
  })
}

/** Holds connections until released, each in a transaction. */
async function hold(db: Store['read'], count: number): Promise<{ backends: number[]; release: () => Promise<void> }> {
  const mayEnd = Promise.withResolvers<void>()
  const begun = Array.from({ length: count }, () => Promise.withResolvers<number>())
  const ended = begun.map(({ resolve }) =>
    db.transaction().execute(async (trx) => {
      resolve(await backendOf(trx))
      await mayEnd.promise
    }),
  )
  return {
    backends: await Promise.all(begun.map(({ promise }) => promise)),
    release: async () => {
      mayEnd.resolve()
      await Promise.all(ended)
    },
  }
}

test('connections that broke while idle are replaced without an error', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  await useAll(store, 1)
  await (await hold(store.write, 4)).release()
  await terminate(store, sql`true`)
  await until('the sessions are gone', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and pid != pg_backend_pid()`.execute(store.admin)
    return rows.length === 0 ? true : undefined
  })
  await setImmediate()
  await useAll(store, 10)
})

test('when one connection breaks in use, those made before it are not used again', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  const { backends, release } = await hold(store.write, 4)
  await release()
  const breaking = store.write
    .transaction()
    .execute((trx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx))
  await assert.rejects(breaking, ofKind('unavailable'))
  const next = await hold(store.write, 4)
  await next.release()
  assert.deepEqual(
    next.backends.filter((backend) => backends.includes(backend)),
    [],
  )
})

test('a connection is used many times over without piling up listeners', async (t) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const store = await openOn(t, await newDatabase(t))
  for (let i = 0; i < 40; i++) await store.batch([journalRow(store, i)])
  await Promise.all(Array.from({ length: 40 }, (_, i) => store.batch([journalRow(store, 100 + i)])))
  await setImmediate()
  assert.deepEqual(warnings, [])
})

test('while all connections are in use others wait: for a report longer than for a write', async (t) => {
  const store = await openOn(t, await newDatabase(t), { limits: { connect: 1_500, report: 60_000 } })
  const held = [await hold(store.reports, 2), await hold(store.interactive, 2)]
  const waiting = Promise.all(
    [store.reports, store.interactive].map((db) => db.selectFrom('journal').select('seq').execute()),
  )
  // Full of reports, everything else goes on.
  await store.batch([journalRow(store, 1)])
  assert.deepEqual(await journalSeqs(store), [1])
  const writes = await hold(store.write, 4)
  await assert.rejects(store.batch([]), ofKind('unavailable', /all connections were in use for 1500 ms/))
  for (const reports of held) await reports.release()
  assert.deepEqual(
    (await waiting).map((rows) => rows.length),
    [1, 1],
  )
  await writes.release()
  await store.batch([journalRow(store, 2)])
})

test('when the server lets no more connections in, those that are open do the work', async (t) => {
  const url = await newDatabase(t)
  const store = await openOn(t, url)
  const sleep = () => sql`select pg_sleep(0.05)`.execute(store.write)
  await sleep()
  await sql`alter database ${sql.id(new URL(url).pathname.slice(1))} connection limit 0`.execute(store.write)
  await Promise.all(Array.from({ length: 4 }, sleep))
  await assert.rejects(sql`select 1`.execute(store.admin), ofKind('unavailable', /no connection is left/))
})

test('a report that takes too long is cut off by the server, and its connection serves the next', async (t) => {
  const store = await openOn(t, await newDatabase(t), { limits: QUICK })
  const backend = await backendOf(store.reports)
  await assert.rejects(sql`select pg_sleep(60)`.execute(store.reports), ofKind('busy', /statement timeout/))
  assert.equal(await backendOf(store.reports), backend)
})

test('when the server falls silent everything fails in time, and goes on when it speaks again', async (t) => {
  const wire = await wireTo(t, await newDatabase(t))
  const store = await openOn(t, wire.url, { limits: QUICK })
  await useAll(store, 1)
  wire.cut()
  const uses = [
    () => store.batch([journalRow(store, 10)]),
    () => store.batch([journalRow(store, 11), journalRow(store, 12)]),
    () => store.write.transaction().execute((trx) => trx.deleteFrom('leases').execute()),
    () => store.read.selectFrom('journal').select('seq').execute(),
    () => store.reports.selectFrom('journal').select('seq').execute(),
  ]
  for (let round = 0; round < 2; round++) {
    await Promise.all(uses.map((use) => assert.rejects(use(), ofKind('unavailable'))))
  }
  wire.mend()
  await untilUsable(store, 20)
})

test('a commit whose answer is lost fails, and may have been kept all the same', async (t) => {
  const url = await newDatabase(t)
  const wire = await wireTo(t, url)
  const [store, other] = [await openOn(t, wire.url, { limits: QUICK }), await openOn(t, url)]
  await store.batch([journalRow(store, 1)])
  wire.cut('answers')
  await assert.rejects(store.batch([journalRow(store, 2)]), ofKind('unavailable', /timeout/))
  await until('the row is there', async () => ((await journalSeqs(other)).includes(2) ? true : undefined))
})

test('callers that wait for a silent server all get an error, however many they are', async (t) => {
  const wire = await wireTo(t, await newDatabase(t))
  const store = await openOn(t, wire.url, { limits: QUICK })
  await store.batch([journalRow(store, 1)])
  wire.cut()
  const callers = Array.from({ length: 2_000 }, (_, i) => store.batch([journalRow(store, 10 + i)]))
  const outcomes = await Promise.allSettled(callers)
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected')
    ofKind('unavailable')(outcome.reason)
  }
  wire.mend()
  await untilUsable(store, 5_000)
})

test('a store closes while the server is silent, whatever is under way, and leaves no connection behind', async (t) => {
  const wire = await wireTo(t, await newDatabase(t))
  const store = await openOn(t, wire.url, { limits: { connect: 500, poll: 10 } })
  await store.followChanges()
  await useAll(store, 1)
  wire.cut()
  const underWay = [
    store.batch([journalRow(store, 10), journalRow(store, 11)]),
    sql`select 1`.execute(store.reports),
    sql`select 1`.execute(store.admin),
  ].map((work) => assert.rejects(work, ofKind('unavailable')))
  await store.close()
  await Promise.all(underWay)
  await until('nothing is connected', () => (wire.connected() === 0 ? true : undefined))
})

test('a store closes although a caller never returns its connection', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  const held = await hold(store.write, 1)
  await store.close()
  await assert.rejects(held.release(), ofKind('unavailable'))
})

test('a closed store says so, and closes once more', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  await store.followChanges()
  const underWay = store.batch([journalRow(store, 1)])
  await Promise.all([store.close(), store.close(), underWay])
  await assert.rejects(store.batch([]), ofKind('closed'))
  await assert.rejects(store.read.selectFrom('journal').selectAll().execute(), ofKind('closed'))
  await assert.rejects(
    store.write.transaction().execute(() => Promise.resolve()),
    ofKind('closed'),
  )
  await store.close()
})

test('the rows of a report are fetched in portions, so that decoding them leaves others their turns', async (t) => {
  const wire = await wireTo(t, await newDatabase(t))
  const store = await openOn(t, wire.url)
  const ROWS = 10_000
  const numbers = sql<{ n: number }>`select n from generate_series(1, ${ROWS}) as n order by n`
  const requests = async (db: Store['read']): Promise<number> => {
    await numbers.execute(db)
    const before = wire.sent()
    const { rows } = await numbers.execute(db)
    assert.deepEqual([rows.length, rows[0]?.n, rows.at(-1)?.n], [ROWS, 1, ROWS])
    return wire.sent() - before
  }
  for (const db of [store.reports, store.interactive]) assert.ok((await requests(db)) > 20)
  // What the program reads for itself comes in one piece.
  assert.ok((await requests(store.read)) <= 5)
})

test('a report that fails in a later portion says so, and its connection serves the next', async (t) => {
  const store = await openOn(t, await newDatabase(t), { poolSize: 4 })
  const backend = await backendOf(store.reports)
  const failing = sql`select 1 / (5000 - n) from generate_series(1, 10000) as n`.execute(store.reports)
  await assert.rejects(failing, ofKind('other', /division by zero/))
  assert.equal(await backendOf(store.reports), backend)
  const inTransaction = store.reports
    .transaction()
    .execute((trx) => sql`select 1 / (5000 - n) from generate_series(1, 10000) as n`.execute(trx))
  await assert.rejects(inTransaction, ofKind('other', /division by zero/))
  assert.equal(await backendOf(store.reports), backend)
})
