import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { tempDir } from '../../testkit/engines.ts'
import { createDatabase } from '../../testkit/postgres/databases.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli } from '../../testkit/processes/command-line.ts'
import { folderWithSite, makeNewer, makeUnmigrated, tearSteps } from './databases.ts'

test('migrate takes the steps once and is up to date afterwards', async (t) => {
  const DATA_DIR = await tempDir(t)
  const first = await runCli(t, ['migrate'], { DATA_DIR })
  assert.equal(first.code, 0)
  assert.match(first.out[0] ?? '', /^applied {2}0001-foundation$/)
  const second = await runCliHere(t, ['migrate'], { DATA_DIR })
  assert.deepEqual(second, { code: 0, out: ['up to date'], err: [] })
  const status = await runCliHere(t, ['migrate', '--status'], { DATA_DIR })
  assert.deepEqual(status, { code: 0, out: first.out, err: [] })
})

test('migrate --status of a folder without a database says so and creates none', async (t) => {
  const DATA_DIR = await tempDir(t)
  const { code, out } = await runCliHere(t, ['migrate', '--status'], { DATA_DIR })
  assert.equal(code, 0)
  assert.match(out.join('\n'), /^there is no database in DATA_DIR .* yet/)
  assert.deepEqual(await readdir(DATA_DIR), [])
})

test('migrate --status lists what is pending and takes none of it', async (t) => {
  const DATA_DIR = await tempDir(t)
  await makeUnmigrated(DATA_DIR)
  for (let run = 0; run < 2; run++) {
    const { code, out } = await runCliHere(t, ['migrate', '--status'], { DATA_DIR })
    assert.equal(code, 0)
    assert.match(out[0] ?? '', /^pending {2}0001-foundation$/)
  }
})

test('migrate --status names the steps of a newer program, and migrate refuses them', async (t) => {
  const DATA_DIR = await tempDir(t)
  await makeNewer(DATA_DIR)
  const status = await runCliHere(t, ['migrate', '--status'], { DATA_DIR })
  assert.match(status.out.join('\n'), /^unknown {2}9999-later \(applied by a newer Tagwarden\)$/m)
  const { code, err } = await runCliHere(t, ['migrate'], { DATA_DIR })
  assert.equal(code, 1)
  assert.match(err.join('\n'), /^tagwarden: the database is newer than this version.*$/)
})

test('a database file that opens but cannot be read is one line and no stack', async (t) => {
  const DATA_DIR = await folderWithSite(t, 'shop')
  await tearSteps(DATA_DIR)
  for (const args of [['migrate'], ['migrate', '--status']]) {
    const { code, out, err } = await runCliHere(t, args, { DATA_DIR })
    assert.deepEqual({ code, out }, { code: 1, out: [] })
    assert.match(err.join('\n'), /^tagwarden: the database cannot be \w+: database disk image is malformed$/)
  }
})

test('migrate and migrate --status work on the database in DATABASE_URL', async (t) => {
  const { url, drop } = await createDatabase({ isMigrated: false })
  t.after(drop)
  const environment = { DATABASE_URL: url, DATA_DIR: await tempDir(t) }
  const before = await runCliHere(t, ['migrate', '--status'], environment)
  assert.equal(before.code, 0)
  assert.ok(before.out.length > 0 && before.out.every((line) => line.startsWith('pending  ')))
  const taken = before.out.map((line) => line.replace('pending  ', 'applied  '))
  for (const args of [['migrate'], ['migrate', '--status']]) {
    assert.deepEqual(await runCliHere(t, args, environment), { code: 0, out: taken, err: [] })
  }
  assert.deepEqual(await runCliHere(t, ['migrate'], environment), { code: 0, out: ['up to date'], err: [] })
  assert.deepEqual(await readdir(environment.DATA_DIR), [])
})

test('migrate --citus says what it needs: PostgreSQL, and Citus in it', async (t) => {
  const embedded = await runCliHere(t, ['migrate', '--citus'], { DATA_DIR: await tempDir(t) })
  assert.equal(embedded.code, 1)
  assert.match(
    embedded.err.join('\n'),
    /^tagwarden: --citus distributes the tables of a PostgreSQL database: set DATABASE_URL/,
  )
  const { url, drop } = await createDatabase()
  t.after(drop)
  const plain = await runCliHere(t, ['migrate', '--citus'], { DATABASE_URL: url })
  assert.deepEqual([plain.code, plain.out], [1, []])
  assert.match(plain.err.join('\n'), /^tagwarden: Citus is not installed/)
})
