import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { type Store, StoreError, type StoreErrorKind } from '../../../src/store/index.ts'
import { storeErrorOf } from '../../../src/store/postgres/errors.ts'
import { createDatabase } from '../../../testkit/postgres/databases.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { until } from '../../../testkit/until.ts'
import { backendOf, newDatabase, ofKind, openOn } from './support.ts'

/** What the driver throws when it connects. */
async function connectError(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.end()
  } catch (thrown) {
    return thrown
  }
  return undefined
}

const withPart = (url: string, part: 'username' | 'password' | 'pathname' | 'hostname' | 'port', value: string) => {
  const changed = new URL(url)
  changed[part] = value
  return changed.href
}

const CONNECTING: readonly [what: string, url: (good: string) => string, kind: StoreErrorKind, message: RegExp][] = [
  ['a wrong password', (url) => withPart(url, 'password', 'wrong'), 'other', /password authentication failed/],
  ['an unknown user', (url) => withPart(url, 'username', 'nobody'), 'other', /password authentication failed/],
  ['an unknown database', (url) => withPart(url, 'pathname', 'none'), 'other', /database "none" does not exist/],
  ['a port where nothing listens', (url) => withPart(url, 'port', '1'), 'unavailable', /ECONNREFUSED/],
  ['a host that does not exist', (url) => withPart(url, 'hostname', 'no.invalid'), 'unavailable', /no\.invalid/],
  ['no socket file', () => 'postgres://u@/d?host=/nowhere', 'unavailable', /ENOENT/],
]
for (const [what, change, kind, message] of CONNECTING) {
  test(`connecting with ${what} is ${kind}`, async (t) => {
    const error = storeErrorOf(await connectError(change(await newDatabase(t))))
    assert.equal(error.kind, kind)
    assert.match(error.message, message)
  })
}

test('more connections than the server lets in are unavailable', async (t) => {
  const url = await newDatabase(t)
  const store = await openOn(t, url)
  const database = new URL(url).pathname.slice(1)
  const held = await store.admin.connection().execute(async (db) => {
    await sql`alter database ${sql.id(database)} connection limit 1`.execute(db)
    return connectError(url)
  })
  assert.equal(storeErrorOf(held).kind, 'unavailable')
  assert.match(
    storeErrorOf(held).message,
    /^no connection is left: raise the connection limit of the database, .*too many connections for database/,
  )
})

test('a role that may have no more connections is named as the limit to raise', async (t) => {
  const { adminUrl, drop } = await createDatabase()
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const role = new URL(adminUrl).pathname.slice(1)
  t.after(async () => {
    await admin.query(`drop role ${role}`)
    await admin.end()
    await drop()
  })
  await admin.query(`create role ${role} login password 'x' connection limit 0`)
  const error = storeErrorOf(await connectError(withPart(withPart(adminUrl, 'username', role), 'password', 'x')))
  assert.equal(error.kind, 'unavailable')
  assert.match(error.message, /raise the connection limit of the role, .*too many connections for role/)
})

test('max_connections is named as the limit to raise when the server is full', () => {
  const full = { code: '53300', routine: 'InitProcess' }
  const error = storeErrorOf(Object.assign(new Error('sorry, too many clients already'), full))
  assert.match(error.message, /raise max_connections of PostgreSQL, .*too many clients already/)
})

test('a host with several addresses of which none answers is unavailable, and says why', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' })
  const error = storeErrorOf(new AggregateError([refused, new Error('other')], ''))
  assert.deepEqual([error.kind, error.message], ['unavailable', 'connect ECONNREFUSED ::1:1; other'])
})

test('an error without a message is named by its code, and a value that is no error by its text', () => {
  assert.equal(storeErrorOf(Object.assign(new Error(''), { code: 'EPIPE' })).message, 'EPIPE')
  assert.equal(storeErrorOf(new RangeError('')).message, 'RangeError')
  assert.equal(storeErrorOf('text').message, 'text')
})

test('an error of the store stays what it is', () => {
  const error = new StoreError('full', 'x')
  assert.equal(storeErrorOf(error), error)
})

/** The error of one statement in a transaction of its own, with a setting that lasts as long. */
const failureOf = (store: Store, setting: string, statement: string): Promise<unknown> =>
  store.write
    .transaction()
    .execute(async (trx) => {
      await sql.raw(setting).execute(trx)
      await sql.raw(statement).execute(trx)
    })
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    )

async function openWithRow(t: TestContext): Promise<Store> {
  const store = await openOn(t, await newDatabase(t))
  await sql`insert into write_checks values (1, 0), (2, 0)`.execute(store.write)
  return store
}

const STATEMENTS: readonly [what: string, setting: string, statement: string, kind: StoreErrorKind][] = [
  ['a key that is there', 'select 1', 'insert into write_checks values (1, 0)', 'unique'],
  ['a statement over its time', 'set local statement_timeout = 10', 'select pg_sleep(60)', 'busy'],
  ['a write where only reads are allowed', 'set transaction read only', 'delete from write_checks', 'unavailable'],
  ['a missing value', 'select 1', 'insert into write_checks values (3, null)', 'other'],
  ['what is no SQL', 'select 1', 'this is no statement', 'other'],
]
for (const [what, setting, statement, kind] of STATEMENTS) {
  test(`${what} is ${kind}`, async (t) => {
    const store = await openWithRow(t)
    const error = await failureOf(store, setting, statement)
    assert.ok(error instanceof StoreError)
    assert.equal(error.kind, kind)
    // The connection, or another one, works on.
    assert.equal((await store.write.selectFrom('write_checks').selectAll().execute()).length, 2)
  })
}

test('while the server accepts no writes its other connections read on, and are made again when it accepts them', async (t) => {
  const store = await openWithRow(t)
  const reader = () => store.read.connection().execute(backendOf)
  const before = await reader()
  const error = await failureOf(store, 'set transaction read only', 'delete from write_checks')
  assert.ok(error instanceof StoreError)
  assert.match(error.message, /^the server accepts no writes: .* read-only transaction/)
  assert.equal(await reader(), before)
  await lockRow(1).execute(store.write)
  assert.notEqual(await reader(), before)
})

test('a reference to a row that is not there is foreign_key', async (t) => {
  const store = await openWithRow(t)
  const { id } = await insertSite(store)
  const error = await failureOf(store, 'select 1', `update sites set client_id = 'nobody' where id = '${id}'`)
  assert.ok(error instanceof StoreError)
  assert.equal(error.kind, 'foreign_key')
})

const lockRow = (id: number) => sql`update write_checks set checked_at = 1 where id = ${id}`

test('a lock that does not come in time is busy', async (t) => {
  const store = await openWithRow(t)
  await store.write.transaction().execute(async (trx) => {
    await lockRow(1).execute(trx)
    const error = await failureOf(store, 'set local lock_timeout = 10', 'update write_checks set checked_at = 2')
    assert.ok(error instanceof StoreError)
    assert.equal(error.kind, 'busy')
  })
})

test('of two transactions that wait for each other one is busy and the other goes on', async (t) => {
  const store = await openWithRow(t)
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const cross = (mine: number, other: number, have: PromiseWithResolvers<void>, wait: Promise<void>) =>
    store.write.transaction().execute(async (trx) => {
      await lockRow(mine).execute(trx)
      have.resolve()
      await wait
      await lockRow(other).execute(trx)
    })
  const outcomes = await Promise.allSettled([cross(1, 2, first, second.promise), cross(2, 1, second, first.promise)])
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  assert.deepEqual(
    failures.map((error) => (error instanceof StoreError ? error.kind : error)),
    ['busy'],
  )
})

test('a session that is ended from outside is unavailable, whether a statement runs in it or none', async (t) => {
  const store = await openWithRow(t)
  const idle = store.write.transaction().execute(async (trx) => {
    const pid = await backendOf(trx)
    await sql`select pg_terminate_backend(${pid})`.execute(store.admin)
    await until('the session is gone', async () => {
      const { rows } = await sql`select from pg_stat_activity where pid = ${pid}`.execute(store.admin)
      return rows.length === 0 ? true : undefined
    })
    await sql`select 1`.execute(trx)
  })
  await assert.rejects(idle, ofKind('unavailable', /terminating connection due to administrator command/))
  const running = store.write.transaction().execute(async (trx) => {
    const pid = await backendOf(trx)
    await Promise.all([
      sql`select pg_sleep(60)`.execute(trx),
      until('the statement runs', async () => {
        const { rows } = await sql<{ done: boolean }>`select pg_terminate_backend(pid) as done from pg_stat_activity
          where pid = ${pid} and state = 'active'`.execute(store.admin)
        return rows[0]?.done
      }),
    ])
  })
  await assert.rejects(running, ofKind('unavailable', /terminating connection due to administrator command/))
})

test('a transaction that does nothing for too long loses its session, and with it its locks', async (t) => {
  const store = await openWithRow(t)
  const lost = store.write.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 1`.execute(trx)
    await lockRow(1).execute(trx)
    await until('the lock is free', async () => {
      const free = await sql`select from write_checks where id = 1 for update skip locked`.execute(store.admin)
      return free.rows.length === 1 ? true : undefined
    })
    await lockRow(2).execute(trx)
  })
  await assert.rejects(lost, ofKind('unavailable', /idle-in-transaction timeout/))
})
