import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { LostSessions } from '../../../src/store/postgres/lost-sessions.ts'
import { ConnectionPool } from '../../../src/store/postgres/pool.ts'
import { Rotation } from '../../../src/store/postgres/rotation.ts'
import { until } from '../../../testkit/until.ts'
import { backendOf, journalRow, journalSeqs, newDatabase, ofKind, openOn, wireTo } from './support.ts'

/** The usual limits would take half a minute, a whole one with the time limit of the server. */
const CASES = [
  { what: 'by asking the server', limits: { suspicion: 300 }, message: /terminated/ },
  { what: 'by its time limit', limits: { statement: 300, silence: 100 }, message: /timeout/ },
] as const

for (const { what, limits, message } of CASES) {
  test(`a connection that fell silent in a transaction is given up ${what}, and its session with its locks is ended`, async (t) => {
    const url = await newDatabase(t)
    const wire = await wireTo(t, url)
    const [store, other] = [await openOn(t, wire.url, { limits }), await openOn(t, url)]
    const hasLocked = Promise.withResolvers<void>()
    const isCut = Promise.withResolvers<void>()
    const transaction = store.write.transaction().execute(async (trx) => {
      await trx.insertInto('journal').values({ node_id: 'n', seq: 1, written_at: 0, payload: 'lost' }).execute()
      hasLocked.resolve()
      await isCut.promise
      await trx.selectFrom('journal').select('seq').execute()
    })
    const failed = assert.rejects(transaction, ofKind('unavailable', message))
    await hasLocked.promise
    wire.cut()
    isCut.resolve()
    wire.forget()
    await failed
    // The same row: it waits until the other one cannot be committed any more.
    await other.batch([journalRow(other, 1)])
    assert.deepEqual(await journalSeqs(other), [1])
  })
}

for (const [name, of] of [
  ['reports', 'the primary'],
  ['interactive', 'the primary'],
  ['reports', 'a replica'],
] as const) {
  test(`a report whose answer was lost (${name} of ${of}) is given up by asking the server, which waits for its next message`, async (t) => {
    const url = await newDatabase(t)
    const wire = await wireTo(t, url)
    const urls = of === 'a replica' ? { url, readUrl: wire.url } : { url: wire.url }
    const store = await openOn(t, wire.url, { ...urls, limits: { suspicion: 300 } })
    await sql`select 1`.execute(store[name])
    wire.cut('answers')
    const failed = assert.rejects(sql`select 1`.execute(store[name]), ofKind('unavailable', /terminated/))
    wire.forget()
    await failed
    await sql`select 1`.execute(store[name])
  })
}

test('a statement that takes long is left alone while the server works on it, and a report while portions of it arrive', async (t) => {
  const wire = await wireTo(t, await newDatabase(t))
  const store = await openOn(t, wire.url, { limits: { suspicion: 500 } })
  const backend = await backendOf(store.write)
  wire.slowDown(100)
  const [, { rows }] = await Promise.all([
    sql`select pg_sleep(3)`.execute(store.write),
    sql`select n from generate_series(1, 7500) as n`.execute(store.reports),
  ])
  assert.equal(rows.length, 7500)
  assert.equal(await backendOf(store.write), backend)
})

test('a session with the number of a lost one on another server behind the same address is left alone', async (t) => {
  const pool = new ConnectionPool({
    rotation: new Rotation([await newDatabase(t)]),
    size: 1,
    statementTimeoutMs: 0,
    silenceMarginMs: 0,
    connectTimeoutMs: 2_000,
    waitTimeoutMs: 2_000,
    mayBeReadOnly: true,
  })
  const lostSessions = new LostSessions({ pools: [pool], limits: { connect: 2_000, suspicion: 60_000 } })
  lostSessions.start()
  t.after(async () => {
    await lostSessions.stop()
    await pool.close()
  })
  const connection = await pool.connect()
  const { session } = connection
  assert.ok(session !== null)
  const looked = () => until('a look', async () => (pool.abandoned.size === 0 ? true : undefined))
  pool.abandoned.add(`${session}1`)
  await looked()
  await connection.query('select 1')
  pool.abandoned.add(session)
  await looked()
  await assert.rejects(connection.query('select 1'), ofKind('unavailable'))
  pool.release(connection)
})
