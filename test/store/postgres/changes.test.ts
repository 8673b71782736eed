import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { Change, Store, Tables, Transaction } from '../../../src/store/index.ts'
import { ChangeLog } from '../../../src/store/postgres/changes.ts'
import type { Limits } from '../../../src/store/postgres/limits.ts'
import { until } from '../../../testkit/until.ts'
import { newDatabase, openOn, terminate, wireTo } from './support.ts'

const HOUR = 3_600_000
/** Each of the two ways alone. */
const NOTIFICATIONS_ONLY = { poll: HOUR }
const POLL_ONLY = { poll: 20, reconnect: HOUR }

/** What management does with a change: an audit row, and after the commit the news. */
async function change(store: Store, id: string, entity = 'site'): Promise<void> {
  await addEntry(store.write, id, entity)
  await store.changes.publish({ kind: 'site', id })
}

const addEntry = (db: Store['write'] | Transaction<Tables>, id: string, entity = 'site') =>
  db
    .insertInto('audit_log')
    .values({ at: 0, actor: 'test', action: 'x', entity, entity_id: id, before: null, after: null })
    .execute()

const LISTENING = sql`query like 'listen %'`

async function openFollowing(t: TestContext, url: string, limits: Partial<Limits>) {
  const store = await openOn(t, url, { limits })
  await store.followChanges()
  const received: Change[] = []
  store.changes.subscribe((news) => void received.push(news))
  const receives = (id: string) =>
    until(`the change of ${id} is received`, () => (received.some((news) => news.id === id) ? true : undefined))
  return { store, received, receives }
}

test('a change reaches another store by its notification', async (t) => {
  const url = await newDatabase(t)
  const { received, receives } = await openFollowing(t, url, NOTIFICATIONS_ONLY)
  const other = await openOn(t, url)
  for (const id of ['a', 'b', 'c']) {
    await change(other, id)
    await receives(id)
  }
  assert.deepEqual(received[0], { kind: 'site', id: 'a' })
})

test('a change reaches another store without notifications, too', async (t) => {
  const url = await newDatabase(t)
  const { store, receives } = await openFollowing(t, url, POLL_ONLY)
  await terminate(store, LISTENING)
  const other = await openOn(t, url)
  await addEntry(other.write, 'a', 'client')
  await receives('a')
})

test('notifications are asked for again when their connection broke', async (t) => {
  const url = await newDatabase(t)
  const { store, receives } = await openFollowing(t, url, { poll: HOUR, reconnect: 20 })
  await terminate(store, LISTENING)
  await until('it listens again', async () => {
    const { rows } = await sql`select from pg_stat_activity where datname = current_database() and state = 'idle'
      and ${LISTENING}`.execute(store.admin)
    return rows.length === 1 ? true : undefined
  })
  const other = await openOn(t, url)
  await change(other, 'a')
  await receives('a')
})

test('what is changed while nothing listens is read as soon as something listens again', async (t) => {
  const url = await newDatabase(t)
  const { store, receives } = await openFollowing(t, url, { poll: HOUR, reconnect: 500 })
  const other = await openOn(t, url)
  await terminate(store, LISTENING)
  await until('nothing listens', async () => {
    const { rows } = await sql`select from pg_stat_activity where datname = current_database()
      and ${LISTENING}`.execute(store.admin)
    return rows.length === 0 ? true : undefined
  })
  await change(other, 'a')
  await receives('a')
})

test("a store's own changes are applied before publishing ends", async (t) => {
  const { store, received } = await openFollowing(t, await newDatabase(t), { poll: HOUR, reconnect: HOUR })
  await change(store, 'a')
  assert.equal(received[0]?.id, 'a')
})

test('a store that cannot read the changes of others says so until it can', async (t) => {
  const wire = await wireTo(t, await newDatabase(t))
  const store = await openOn(t, wire.url, {
    limits: { poll: 20, reconnect: 20, current: 300 },
    onError: () => undefined,
  })
  const isCurrent = (is: boolean) =>
    until(is ? 'it is current' : 'it is not', () => (store.changes.isCurrent === is ? true : undefined))
  assert.ok(store.changes.isCurrent)
  await store.followChanges()
  assert.ok(store.changes.isCurrent)
  // Silence, which no error announces for long.
  wire.cut()
  await isCurrent(false)
  wire.mend()
  await isCurrent(true)
  let fails = true
  store.changes.subscribe(() => {
    if (fails) throw new Error('not now')
  })
  await addEntry(store.write, 'a')
  await isCurrent(false)
  fails = false
  await isCurrent(true)
})

test('earlier changes are not delivered, and none is delivered twice', async (t) => {
  const url = await newDatabase(t)
  const other = await openOn(t, url)
  for (const id of ['old 1', 'old 2']) await addEntry(other.write, id)
  const { received, receives } = await openFollowing(t, url, POLL_ONLY)
  for (const id of ['new 1', 'new 2', 'new 3']) {
    await addEntry(other.write, id)
    await receives(id)
  }
  assert.deepEqual(
    received.map(({ id }) => id),
    ['new 1', 'new 2', 'new 3'],
  )
})

/** A log by hand, and what it has delivered so far. */
async function openLog(t: TestContext) {
  const store = await openOn(t, await newDatabase(t))
  const log = new ChangeLog(store.write)
  const delivered: string[] = []
  const read = async () => {
    await log.read(async ({ id }) => void delivered.push(id))
    return delivered.splice(0)
  }
  return { store, log, read }
}

test('a change that is committed after a later one is delivered', async (t) => {
  const { store, log, read } = await openLog(t)
  await addEntry(store.write, 'before')
  await log.start()
  await store.write.transaction().execute(async (early) => {
    await addEntry(early, 'early')
    await store.write.transaction().execute((undone) => addEntry(undone, 'late'))
    assert.deepEqual(await read(), ['late'])
    assert.deepEqual(await read(), [])
  })
  assert.deepEqual(await read(), ['early'])
  assert.deepEqual(await read(), [])
})

test('a change that was under way when following began is delivered', async (t) => {
  const { store, log, read } = await openLog(t)
  await addEntry(store.write, 'before')
  await store.write.transaction().execute(async (early) => {
    await addEntry(early, 'early')
    await addEntry(store.write, 'late')
    await log.start()
  })
  assert.deepEqual(await read(), ['early'])
})

test('numbers that never come hold nothing up', async (t) => {
  const { store, log, read } = await openLog(t)
  await log.start()
  const undone = store.write.transaction().execute(async (trx) => {
    await addEntry(trx, 'undone')
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  await addEntry(store.write, 'a')
  // As after a copy from elsewhere.
  await sql`alter table audit_log alter column id restart with 5000000`.execute(store.write)
  await addEntry(store.write, 'b')
  assert.deepEqual(await read(), ['a', 'b'])
  await addEntry(store.write, 'c')
  assert.deepEqual(await read(), ['c'])
})

test('a log that went back, as by a restore, has everything read again, and the changes after it are delivered', async (t) => {
  const { store, log, read } = await openLog(t)
  for (const id of ['a', 'b', 'c']) await addEntry(store.write, id)
  await log.start()
  assert.deepEqual(await read(), [])
  await sql`delete from audit_log where entity_id in ('b', 'c')`.execute(store.write)
  await sql`alter table audit_log alter column id restart with 2`.execute(store.write)
  assert.deepEqual(await read(), ['*'])
  assert.deepEqual(await read(), [])
  await addEntry(store.write, 'd')
  assert.deepEqual(await read(), ['d'])
})

test('a log that went back and has grown beyond its old length is noticed, until everything is read again', async (t) => {
  const { store, log, read } = await openLog(t)
  await log.start()
  for (const id of ['a', 'b']) await addEntry(store.write, id)
  assert.deepEqual(await read(), ['a', 'b'])
  await sql`delete from audit_log where entity_id = 'b'`.execute(store.write)
  await sql`alter table audit_log alter column id restart with 2`.execute(store.write)
  for (const id of ['x', 'y', 'z']) await addEntry(store.write, id)
  const failing = log.read(async () => {
    throw new Error('not now')
  })
  await assert.rejects(failing, /not now/)
  assert.deepEqual(await read(), ['*'])
  assert.deepEqual(await read(), [])
})

test('a log whose last entry was deleted for its age has everything read again once', async (t) => {
  const { store, log, read } = await openLog(t)
  await addEntry(store.write, 'a')
  await log.start()
  await sql`delete from audit_log`.execute(store.write)
  assert.deepEqual(await read(), ['*'])
  assert.deepEqual(await read(), [])
  await addEntry(store.write, 'b')
  assert.deepEqual(await read(), ['b'])
})

test('entries that are about neither clients nor sites are passed over', async (t) => {
  const { store, log, read } = await openLog(t)
  await log.start()
  await addEntry(store.write, 'x', 'settings')
  await addEntry(store.write, 'a', 'client')
  assert.deepEqual(await read(), ['a'])
})

test('a change that a listener fails to apply is delivered again, and does not block the others', async (t) => {
  const { store, log, read } = await openLog(t)
  await log.start()
  for (const id of ['a', 'bad', 'b']) await addEntry(store.write, id)
  const delivered: string[] = []
  const failing = log.read(async ({ id }) => {
    if (id === 'bad') throw new Error('not now')
    delivered.push(id)
  })
  await assert.rejects(failing, /not now/)
  assert.deepEqual(delivered, ['a', 'b'])
  assert.deepEqual(await read(), ['bad'])
  assert.deepEqual(await read(), [])
})

test('an error that comes again with every look is reported once', async (t) => {
  const reports: string[] = []
  const store = await openOn(t, await newDatabase(t), {
    limits: { poll: 10 },
    onError: (error, what) => void reports.push(`${what}: ${error.message}`),
  })
  await store.followChanges()
  let delivered = 0
  store.changes.subscribe(() => {
    delivered++
    throw new Error('not now')
  })
  await addEntry(store.write, 'a')
  await until('it was delivered again and again', () => (delivered > 3 ? true : undefined))
  await store.close()
  assert.deepEqual(reports, ['change-poll: not now'])
})
