import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { tempDir } from '../support/engines.ts'
import { makeNewer, makeUnmigrated } from './databases.ts'
import { runCli } from './support.ts'

test('migrate takes the steps once and is up to date afterwards', async (t) => {
  const DATA_DIR = await tempDir(t)
  const first = await runCli(t, ['migrate'], { DATA_DIR })
  assert.equal(first.code, 0)
  assert.match(first.out[0] ?? '', /^taken {4}0001-foundation$/)
  const second = await runCli(t, ['migrate'], { DATA_DIR })
  assert.deepEqual(second, { code: 0, out: ['up to date'], err: [] })
  const status = await runCli(t, ['migrate', '--status'], { DATA_DIR })
  assert.deepEqual(status, { code: 0, out: first.out, err: [] })
})

test('migrate --status of a folder without a database says so and creates none', async (t) => {
  const DATA_DIR = await tempDir(t)
  const { code, out } = await runCli(t, ['migrate', '--status'], { DATA_DIR })
  assert.equal(code, 0)
  assert.match(out.join('\n'), /^there is no database in DATA_DIR .* yet/)
  assert.deepEqual(await readdir(DATA_DIR), [])
})

test('migrate --status lists what is pending and takes none of it', async (t) => {
  const DATA_DIR = await tempDir(t)
  await makeUnmigrated(DATA_DIR)
  for (let run = 0; run < 2; run++) {
    const { code, out } = await runCli(t, ['migrate', '--status'], { DATA_DIR })
    assert.equal(code, 0)
    assert.match(out[0] ?? '', /^pending {2}0001-foundation$/)
  }
})

test('migrate --status names the steps of a newer program, and migrate refuses them', async (t) => {
  const DATA_DIR = await tempDir(t)
  await makeNewer(DATA_DIR)
  const status = await runCli(t, ['migrate', '--status'], { DATA_DIR })
  assert.match(status.out.join('\n'), /^unknown {2}9999-later \(taken by a newer Tagwarden\)$/m)
  const { code, err } = await runCli(t, ['migrate'], { DATA_DIR })
  assert.equal(code, 1)
  assert.match(err.join('\n'), /^tagwarden: the database is newer than this program.*$/)
})
