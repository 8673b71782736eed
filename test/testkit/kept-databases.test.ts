import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { postgres } from '../../testkit/engines.ts'
import { rowsByTable } from '../../testkit/postgres/contents.ts'
import { createDatabase, sessionsOver } from '../../testkit/postgres/databases.ts'
import { leaseDatabase } from '../../testkit/postgres/kept-databases.ts'
import { insertSite } from '../../testkit/sites.ts'

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const answerTo = async (client: pg.Client, expression: string): Promise<unknown> =>
  (await client.query({ text: `select ${expression}`, rowMode: 'array' })).rows[0]?.[0]

const backendOf = (url: string) => connected(url, (client) => answerTo(client, 'pg_backend_pid()'))

test('a database that is leased again holds nothing of the former test', async () => {
  const anew = await createDatabase()
  const clean = await rowsByTable(anew.url)
  await anew.drop()
  const numbers = []
  const urls = new Set()
  for (let lease = 0; lease < 2; lease++) {
    const { url, drop } = await leaseDatabase()
    urls.add(url)
    assert.deepEqual(await rowsByTable(url), clean)
    const store = await postgres.open(readConfig({ DATABASE_URL: url }), assert.ifError)
    numbers.push((await insertSite(store)).site_no)
    await store.close()
    await drop()
  }
  assert.equal(urls.size, 1)
  assert.deepEqual(numbers, [1, 1])
})

test('a connection that takes over a session finds nothing of the former one in it', async (t) => {
  const { url, drop } = await leaseDatabase()
  t.after(drop)
  // Of this session alone: other tests of the run hold locks on the same server.
  const locks = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"
  const settings = `current_setting('search_path') || (${locks})`
  const before = await connected(url, async (client) => {
    const asNew = await answerTo(client, settings)
    for (const text of ['set search_path = nowhere', 'select pg_advisory_lock(1)', 'listen here'])
      await client.query(text)
    await client.query({ name: 'mine', text: 'select 1' })
    return [await answerTo(client, 'pg_backend_pid()'), asNew, null, 0]
  })
  const after = await connected(url, async (client) => [
    await answerTo(client, 'pg_backend_pid()'),
    await answerTo(client, settings),
    await answerTo(client, '(select * from pg_listening_channels())'),
    await answerTo(client, '(select cast(count(*) as int) from pg_prepared_statements)'),
  ])
  assert.deepEqual(after, before)
})

test('a session is not taken over by another user, with another password, out of a transaction, or when it has ended', async (t) => {
  const { url, adminUrl, drop } = await leaseDatabase()
  t.after(drop)
  const first = await backendOf(url)
  assert.equal(await backendOf(url), first)
  assert.notEqual(await backendOf(adminUrl), first)
  const wrong = new URL(url)
  wrong.password = 'wrong'
  await assert.rejects(backendOf(wrong.href), { code: '28P01' })
  await connected(url, (client) => client.query('begin'))
  const second = await backendOf(url)
  assert.notEqual(second, first)
  await connected(adminUrl, (admin) => admin.query('select pg_terminate_backend($1, 10_000)', [second]))
  assert.notEqual(await backendOf(url), second)
  await sessionsOver(url)
})

const CHANGES = {
  'has one more table': 'create table notes (id int)',
  'has one more column': 'alter table sites add column note text',
  'lacks an index': 'drop index identity_roles_by_client',
  'has another name for a table': 'alter table deliveries rename to gone',
  'has statistics': 'analyze kysely_migration',
  'has one more function': "create function one() returns int language sql as 'select 1'",
  'has settings of its own':
    "do $$ begin execute format('alter database %I set jit = off', current_database()); end $$",
  'forgot a migration': 'delete from kysely_migration',
}
for (const [what, sql] of Object.entries(CHANGES)) {
  test(`a database that ${what} is not leased again`, async () => {
    const { url, drop } = await leaseDatabase()
    await connected(url, (client) => client.query(sql))
    await drop()
    const next = await leaseDatabase()
    await next.drop()
    assert.notEqual(next.url, url)
  })
}

test('a database that something is still connected to is not leased again', async (t) => {
  const { url, drop } = await leaseDatabase()
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  await drop()
  const next = await leaseDatabase()
  await next.drop()
  assert.notEqual(next.url, url)
})
