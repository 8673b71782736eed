import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { migrate, type Store, StoreError } from '../../../src/store/index.ts'
import { type OwnPostgres, startPostgres } from '../../../testkit/postgres/databases.ts'
import { until } from '../../../testkit/until.ts'
import { journalRow, journalSeqs, ofKind, openOn } from './support.ts'

async function openOnOwn(t: TestContext): Promise<{ server: OwnPostgres; store: Store }> {
  const server = await startPostgres(t, { durable: true })
  const store = await openOn(t, server.url, { limits: { poll: 50, reconnect: 50 }, onError: () => undefined })
  await migrate(store.admin, store.columnTypes)
  return { server, store }
}

test('a killed server fails what was under way, and after its restart the store recovers automatically', async (t) => {
  const { server, store } = await openOnOwn(t)
  await store.followChanges()
  await store.batch([journalRow(store, 1)])
  const running = Array.from({ length: 3 }, () => sql`select pg_sleep(600)`.execute(store.write))
  await until('they run', async () => {
    const { rows } = await sql`select from pg_stat_activity where query like 'select pg_sleep%'
      and state = 'active'`.execute(store.read)
    return rows.length === 3 ? true : undefined
  })
  const lost = running.map((work) => assert.rejects(work, ofKind('unavailable')))
  await server.stop('kill')
  // The sessions of a killed server go on until they see that it is gone.
  const refused = [
    store.batch([journalRow(store, 2), journalRow(store, 3)]),
    store.read.selectFrom('journal').select('seq').execute(),
    sql`select 1`.execute(store.reports),
    store.write.transaction().execute(() => Promise.resolve()),
  ]
  for (const outcome of await Promise.allSettled(refused)) {
    if (outcome.status === 'rejected') ofKind('unavailable')(outcome.reason)
  }
  await server.start()
  await Promise.all(lost)
  await until('a write gets through', () =>
    store.batch([journalRow(store, 10)]).then(
      () => true,
      (error) => {
        ofKind('unavailable')(error)
        return undefined
      },
    ),
  )
  const seqs = await journalSeqs(store)
  assert.deepEqual([seqs[0], seqs.at(-1)], [1, 10])
  await until('it listens again', async () => {
    const { rows } = await sql`select from pg_stat_activity where query like 'listen %'`.execute(store.read)
    return rows.length === 1 ? true : undefined
  })
})

test('a server that shuts down cleanly is unavailable at once, and comes back', async (t) => {
  const { server, store } = await openOnOwn(t)
  await store.batch([journalRow(store, 1)])
  await server.stop('fast')
  const refused = Array.from({ length: 50 }, () =>
    assert.rejects(store.batch([journalRow(store, 2)]), ofKind('unavailable', /ECONNREFUSED|terminat/)),
  )
  await Promise.all(refused)
  await server.start()
  await store.batch([journalRow(store, 3)])
  assert.deepEqual(await journalSeqs(store), [1, 3])
})

test('a store closes while its server is unavailable', async (t) => {
  const { server, store } = await openOnOwn(t)
  await store.followChanges()
  await server.stop('immediate')
  const refused = assert.rejects(store.batch([journalRow(store, 1)]), StoreError)
  await store.close()
  await refused
  await assert.rejects(store.batch([]), ofKind('closed'))
})
