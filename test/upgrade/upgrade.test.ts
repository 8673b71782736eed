import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { readConfig } from '../../src/config.ts'
import { copyToPostgres } from '../../src/store/copy/copy.ts'
import { migrate, migrationState, openStore, sqlitePath } from '../../src/store/index.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import type { ApiClient } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { tempDir } from '../../testkit/engines.ts'
import { AT_NIGHT, amount } from '../../testkit/length.ts'
import { createDatabase } from '../../testkit/postgres/databases.ts'
import { NodeProcess } from '../../testkit/processes/node-process.ts'
import { answerTo } from '../../testkit/questions.ts'
import { PROGRAM } from '../../testkit/repository.ts'
import { startTestService } from '../../testkit/service.ts'
import { openFolderWithoutThreads } from '../../testkit/sqlite.ts'
import { until } from '../../testkit/until.ts'
import { MADE_AT, SETTINGS } from '../../testkit/upgrade/moment.ts'
import { lost } from './lost.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')

const unpacked = async (version: string, name: string): Promise<Buffer> =>
  brotliDecompressSync(await readFile(join(FIXTURES, version, `${name}.br`)))

/** A folder as the release has left it. */
async function folderOf(t: TestContext, version: string): Promise<string> {
  const folder = await tempDir(t)
  await writeFile(sqlitePath(folder), await unpacked(version, 'tagwarden.db'))
  return folder
}

/** A database with the release's schema, which its frozen migrations make, and with its rows. */
async function databaseOf(t: TestContext, version: string): Promise<string> {
  const { url, drop } = await createDatabase({ isMigrated: false })
  t.after(() => t.after(drop))
  const source = await openFolderWithoutThreads(await folderOf(t, version))
  const target = await openStore(readConfig({ DATABASE_URL: url }), (error) => assert.fail(error))
  try {
    const { taken } = await migrationState(source.read)
    const steps = migrations.slice(0, taken.length)
    assert.deepEqual(
      steps.map(({ name }) => name),
      taken,
    )
    await migrate(target.admin, target.columnTypes, steps)
    await copyToPostgres({ source, target, watch: (_total, _already, copy) => copy(() => undefined) })
  } finally {
    await Promise.all([source.close(), target.close()])
  }
  return url
}

const sqlitePlace = async (t: TestContext, version: string) => ({ DATA_DIR: await folderOf(t, version) })
const postgresPlace = async (t: TestContext, version: string) => ({ DATABASE_URL: await databaseOf(t, version) })

async function openToday(t: TestContext, place: Record<string, string>) {
  const api = await startTestService(t, new TestClock(MADE_AT), { ...SETTINGS, ...place })
  await until('what was in the journal is in the reports', async () => {
    const row = await api.service.store.read.selectFrom('journal').select('seq').limit(1).executeTakeFirst()
    return row === undefined ? true : undefined
  })
  await until('what open incidents cost is counted', async () => {
    const incidents = await api.ask<{ state: string; impact: unknown }[]>('GET', '/api/incidents')
    return incidents.every(({ state, impact }) => state === 'resolved' || impact !== null) ? true : undefined
  })
  return api
}

/** Everything that the release answered has to be in today's answers, which may say more. */
async function compare(api: ApiClient, version: string): Promise<void> {
  const answers = JSON.parse((await unpacked(version, 'answers.json')).toString()) as Record<string, unknown>
  const questions = Object.entries(answers)
  assert.ok(questions.length > 400, `${questions.length}`)
  const differences: string[] = []
  const asked = questions.filter((_, n) => n % amount(8, 1) === 0)
  for (const [question, before] of asked) {
    const { status, body } = await answerTo(api, question)
    if (status !== 200) differences.push(`${question}: answered ${status}`)
    else differences.push(...lost(before, body).map((difference) => `${question}: ${difference}`))
  }
  assert.deepEqual(differences, [])
}

/** Kills the command in, or soon after, one step after another. */
async function killWhileMigrating(t: TestContext, environment: Record<string, string>): Promise<void> {
  const folder = await tempDir(t)
  const args = [PROGRAM, 'migrate']
  const command = new NodeProcess({ name: 'migrate', args, environment, folder, logFolder: folder })
  t.after(() => command.kill())
  for (const step of ['0037', '0043', '0044', '0058', '0066']) {
    command.launch()
    await until(`step ${step} begins`, () =>
      command.err.some((line) => line.startsWith(`taking   ${step}`)) || !command.isRunning ? true : undefined,
    )
    await command.kill()
  }
}

for (const version of readdirSync(FIXTURES)) {
  test(`a store of ${version} says after the upgrade what it said before (SQLite)`, async (t) => {
    await compare(await openToday(t, await sqlitePlace(t, version)), version)
  })

  test(`a store of ${version} says after the upgrade what it said before (PostgreSQL)`, async (t) => {
    const api = await openToday(t, await postgresPlace(t, version))
    assert.equal(api.service.store.engine, 'postgres')
    await compare(api, version)
  })

  const places = { SQLite: sqlitePlace, PostgreSQL: postgresPlace }
  for (const [engine, place] of Object.entries(places)) {
    const title = `a store of ${version} says the same after migrations that were killed (${engine})`
    test(title, AT_NIGHT, async (t) => {
      const environment = await place(t, version)
      await killWhileMigrating(t, environment)
      await compare(await openToday(t, environment), version)
    })
  }
}
