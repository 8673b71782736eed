import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { copyEmbedded } from '../../src/cli/migrate/run.ts'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/index.ts'
import { hasUnfinishedCopy, migrate, openStore, type Store, sqlitePath } from '../../src/store/index.ts'
import { placeFor, postgres, sqlite, tempDir } from '../../testkit/engines.ts'
import { amount, inTurn } from '../../testkit/length.ts'
import { createDatabase } from '../../testkit/postgres/databases.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli, startCli } from '../../testkit/processes/command-line.ts'
import { PROGRAM_OF_SOURCES } from '../../testkit/repository.ts'
import { startTestService } from '../../testkit/service.ts'
import { fillEveryTable, NOT_COPIED, rowsOf, tableNames } from '../store/copy-support.ts'
import { makeNewer, makeUnmigrated, withStore } from './databases.ts'

const KILLER = join(import.meta.dirname, 'kill-at-query.ts')
const ROWS = 40

/** The folder of an embedded store with rows in every table. */
async function filledFolder(t: TestContext): Promise<string> {
  const { DATA_DIR = '' } = await placeFor(sqlite, t)
  await withStore(DATA_DIR, async (store) => {
    await migrate(store.admin, store.columnTypes)
    await fillEveryTable(store, ROWS)
  })
  return DATA_DIR
}

async function databaseUrl(t: TestContext): Promise<string> {
  const { DATABASE_URL = '' } = await placeFor(postgres, t)
  return DATABASE_URL
}

async function inPostgres<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(readConfig({ DATABASE_URL: url }), (error) => assert.fail(error))
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const allRows = async (store: Store): Promise<[table: string, rows: string[]][]> => {
  const tables = (await tableNames(store)).filter((name) => !NOT_COPIED.includes(name)).sort()
  return Promise.all(tables.map(async (table) => [table, await rowsOf(store, table)]))
}

async function assertSame(folder: string, url: string): Promise<void> {
  const expected = await withStore(folder, allRows)
  assert.deepEqual(await inPostgres(url, allRows), expected)
}

/** While `work` runs, the database looks like one of an older version: its last step would fail if it were taken again. */
async function withoutLastStep(url: string, work: () => Promise<void>): Promise<void> {
  await inPostgres(url, async ({ admin }) => {
    const db = admin.withTables<{ kysely_migration: { name: string; timestamp: string } }>()
    const last = await db.selectFrom('kysely_migration').selectAll().orderBy('name', 'desc').executeTakeFirstOrThrow()
    await db.deleteFrom('kysely_migration').where('name', '=', last.name).execute()
    await work()
    await db.insertInto('kysely_migration').values(last).execute()
  })
}

/** The one line with which the command refuses; it repeats no password. */
async function refusal(
  t: TestContext,
  args: readonly string[],
  environment: Record<string, string> = {},
  run = runCliHere,
): Promise<string> {
  const { code, out, err } = await run(t, ['migrate', ...args], environment)
  assert.deepEqual({ code, out }, { code: 1, out: [] }, err.join('\n'))
  assert.doesNotMatch(err.join('\n'), /s3cret/)
  assert.match(err.at(-1) ?? '', /^tagwarden: /)
  return err.at(-1) ?? ''
}

/** A service on half of the data would answer for all of it. */
async function assertNotServed(t: TestContext, DATABASE_URL: string): Promise<void> {
  const { code, err } = await runCliHere(t, ['serve'], { DATABASE_URL, PORT: '0' })
  assert.equal(code, 1)
  assert.match(err.at(-1) ?? '', /^tagwarden: DATABASE_URL holds an unfinished copy: let /)
}

test('migrate --from copies an embedded store to a new database, says what was compared and what comes next', async (t) => {
  const folder = await filledFolder(t)
  const { url, drop } = await createDatabase({ isMigrated: false })
  t.after(drop)
  const { code, out, err } = await runCli(t, ['migrate', '--from', `sqlite:${folder}`, '--to', url])
  assert.equal(code, 0, err.join('\n'))
  assert.match(out[0] ?? '', /^table +rows +sums compared$/)
  assert.ok(out.some((line) => /^event_rollups +40 +17$/.test(line)))
  assert.match(
    out.at(-3) ?? '',
    /^rows and sums are the same in sqlite:\S+ and in PostgreSQL at 127\.0\.0\.1:\d+\/test_\w+$/,
  )
  assert.match(out.at(-2) ?? '', /^[\d,]+ rows copied in \d+\.\d s$/)
  assert.match(out.at(-1) ?? '', /^Next: set DATABASE_URL .* stays as it is/)
  assert.ok(err.includes('copying: 100 %'))
  assert.doesNotMatch([...out, ...err].join('\n'), new RegExp(new URL(url).password))
  await assertSame(folder, url)
})

test('migrate --from copies to DATABASE_URL without --to', async (t) => {
  const folder = await filledFolder(t)
  const DATABASE_URL = await databaseUrl(t)
  const { code, err } = await runCliHere(t, ['migrate', '--from', `sqlite:${folder}`], { DATABASE_URL, ROLE: 'ingest' })
  assert.equal(code, 0, err.join('\n'))
  await assertSame(folder, DATABASE_URL)
})

test('a copy that is killed again and again ends up whole', inTurn(2, 3), async (t) => {
  const folder = await filledFolder(t)
  const DATABASE_URL = await databaseUrl(t)
  const args = ['migrate', '--from', `sqlite:${folder}`]
  let kills = 0
  let resumed = 0
  for (let isDone = false; !isDone; ) {
    // Counted from its note that a copy has begun: far enough for some pages, and each time at another of the statements that a page takes.
    const environment = {
      DATABASE_URL,
      KILL_FROM: '"unfinished_copy"',
      KILL_AT: String(amount(120, 20) + kills),
      NODE_OPTIONS: `--import=${KILLER}`,
    }
    // The driver whose queries are counted is part of a bundle.
    const { child, finished } = await startCli(t, args, environment, PROGRAM_OF_SOURCES)
    const { code, err } = await finished
    isDone = code === 0
    if (!isDone) assert.equal(child.signalCode, 'SIGKILL', err.join('\n'))
    if (!isDone) kills++
    if (err.some((line) => line.startsWith('resuming a copy'))) resumed++
    if (!isDone && kills === 1) await assertNotServed(t, DATABASE_URL)
  }
  assert.ok(kills >= 3 && resumed >= 2, `${kills} kills, ${resumed} went on`)
  await assertSame(folder, DATABASE_URL)
  assert.equal(await inPostgres(DATABASE_URL, (store) => hasUnfinishedCopy(store.read)), false)
})

test('a copy is refused while a service runs on the folder, and while one runs on the target', async (t) => {
  const { DATA_DIR = '' } = await placeFor(sqlite, t)
  const url = await databaseUrl(t)
  await startTestService(t, systemClock, { DATA_DIR })
  assert.match(
    await refusal(t, ['--from', `sqlite:${DATA_DIR}`, '--to', url], {}, runCli),
    /is in use by another Tagwarden process: stop/,
  )

  const folder = await filledFolder(t)
  const { service } = await startTestService(t, systemClock, { DATABASE_URL: url })
  await withoutLastStep(url, async () => {
    assert.match(
      await refusal(t, ['--from', `sqlite:${folder}`, '--to', url]),
      /a Tagwarden is running on the target: stop it/,
      'before its tables are changed',
    )
  })
  await service.stop()
  assert.equal((await runCliHere(t, ['migrate', '--from', `sqlite:${folder}`, '--to', url])).code, 0)
})

test('a service on the target is seen by the time of the database, whatever the clock of this machine shows', async (t) => {
  const folder = await filledFolder(t)
  const { url, drop } = await createDatabase()
  t.after(drop)
  // The database's clock is ten minutes behind this machine's.
  await inPostgres(url, async ({ admin }) => {
    await sql`create function clock_timestamp() returns timestamptz language sql as
      $$ select pg_catalog.clock_timestamp() - interval '10 minutes' $$`.execute(admin)
    await sql`alter database ${sql.id(new URL(url).pathname.slice(1))} set search_path = public, pg_catalog`.execute(
      admin,
    )
  })
  await inPostgres(url, async ({ write, nowInSql: seen_at = sql<number>`0` }) => {
    const node = { id: 'node', name: 'here:1', role: 'all', version: '1', started_at: 0, seen_at }
    await write.insertInto('nodes').values(node).execute()
  })
  assert.match(await refusal(t, ['--from', `sqlite:${folder}`, '--to', url]), /a Tagwarden is running on the target/)
})

test('a copy is refused when the source is none', async (t) => {
  const to = ['--to', 'postgres://tagwarden:s3cret@127.0.0.1:1/tagwarden']
  const empty = await tempDir(t)
  assert.match(
    await refusal(t, ['--from', `sqlite:${empty}`, ...to]),
    /there is no database in .*: give the DATA_DIR of/,
  )
  assert.deepEqual(await readdir(empty), [])
  assert.match(await refusal(t, ['--from', `sqlite:${join(empty, 'nowhere')}`, ...to]), /there is no database in/)
  const garbled = await tempDir(t)
  await writeFile(sqlitePath(garbled), 'no database'.repeat(100))
  assert.match(await refusal(t, ['--from', `sqlite:${garbled}`, ...to]), /cannot be used: file is not a database/)
  const unmigrated = await tempDir(t)
  await makeUnmigrated(unmigrated)
  assert.match(await refusal(t, ['--from', `sqlite:${unmigrated}`, ...to]), /is not a Tagwarden store/)
  const newer = await tempDir(t)
  await makeNewer(newer)
  assert.match(
    await refusal(t, ['--from', `sqlite:${newer}`, ...to]),
    /is newer than this version \(it has applied 9999-later\)/,
  )
  const older = await tempDir(t)
  await withStore(older, async (store) => {
    await migrate(store.admin, store.columnTypes)
    await store.admin
      .withTables<{ kysely_migration: { name: string } }>()
      .deleteFrom('kysely_migration')
      .where('name', '=', '0002-nodes')
      .execute()
  })
  assert.match(
    await refusal(t, ['--from', `sqlite:${older}`, ...to]),
    /lacks 0002-nodes\): back it up, run "DATABASE_URL= DATA_DIR/,
  )
})

test('while a copy waits for its target, it names --to', async (t) => {
  const folder = await filledFolder(t)
  // The first line ends the wait.
  t.mock.method(console, 'error', (line: string) => {
    throw new Error(line)
  })
  await assert.rejects(copyEmbedded(folder, 'postgres://tagwarden:s3cret@127.0.0.1:1/tagwarden'), {
    message: /^connecting to --to: .*, trying again$/,
  })
})

test('a copy is refused when the target holds data, is newer, or cannot be reached', async (t) => {
  const folder = await filledFolder(t)
  const url = await databaseUrl(t)
  await inPostgres(url, (store) =>
    store.write.insertInto('site_removals').values({ site_no: 1, requested_at: 1, emptied_at: null }).execute(),
  )
  assert.match(
    await refusal(t, ['--from', `sqlite:${folder}`, '--to', url]),
    /already holds data \(rows: site_removals 1\)/,
  )
  await inPostgres(url, (store) =>
    store.admin
      .withTables<{ kysely_migration: { name: string; timestamp: string } }>()
      .insertInto('kysely_migration')
      .values({ name: '9999-later', timestamp: '' })
      .execute(),
  )
  assert.match(await refusal(t, ['--from', `sqlite:${folder}`, '--to', url]), /the database is newer than this version/)
  const missing = new URL(url)
  missing.pathname = 'nowhere'
  assert.match(
    await refusal(t, ['--from', `sqlite:${folder}`, '--to', missing.href]),
    /^tagwarden: --to cannot be used: database "nowhere" does not exist$/,
  )
})

test('addresses that are none, and options that do not go together, are refused', async (t) => {
  const from = ['--from', `sqlite:${await tempDir(t)}`]
  assert.match(await refusal(t, from), /--from needs a target: give --to postgres:\/\/… or set DATABASE_URL/)
  assert.match(await refusal(t, [...from, '--to', 'mysql://u:s3cret@h/d']), /^tagwarden: --to must be an address like/)
  assert.match(await refusal(t, ['--from', './data']), /Give the folder of an embedded store, like sqlite:\.\/data/)
  assert.match(await refusal(t, ['--to', 'postgres://u:s3cret@h/d']), /--to needs --from/)
  assert.match(await refusal(t, ['--status', ...from]), /--status' cannot be used with option '--from/)
  assert.match(await refusal(t, ['--status', '--citus']), /--status' cannot be used with option '--citus'/)
})
