import assert from 'node:assert/strict'
import { cp, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { backUpSqlite, type CopyWatch, sqlitePath } from '../../src/store/index.ts'
import { apiClient, type SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { inTurn } from '../../testkit/length.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli, startCli } from '../../testkit/processes/command-line.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { folderWithSite, makeNewer, makeUnmigrated, siteNames } from './databases.ts'

const CONNECTIONS = 8
const KILLER = join(import.meta.dirname, 'kill-at-file-change.ts')

/** The one line with which the command refuses. */
async function refusal(
  t: TestContext,
  args: readonly string[],
  environment: Record<string, string>,
  run = runCliHere,
): Promise<string> {
  const { code, out, err } = await run(t, args, environment)
  assert.deepEqual({ code, out }, { code: 1, out: [] })
  assert.match(err.at(-1) ?? '', /^tagwarden: /)
  return err.at(-1) ?? ''
}

/** A backup of a folder whose one site has this name. */
async function backupOf(t: TestContext, name: string): Promise<string> {
  const target = join(await tempDir(t), `${name}.db`)
  const watchCopy: CopyWatch = (_total, copy) => copy(() => undefined)
  const interruption = new AbortController().signal
  await backUpSqlite({ dataDir: await folderWithSite(t, name), target, watchCopy, interruption })
  return target
}

/** Restores `file` into a folder that does not exist yet, starts the service there and says what it counts. */
async function eventsIn(t: TestContext, file: string, site: SiteKey): Promise<number> {
  const dataDir = join(await tempDir(t), 'new', 'machine')
  const { code, err } = await runCliHere(t, ['restore', file], { DATA_DIR: dataDir })
  assert.equal(code, 0, err.join('\n'))
  const api = await startTestService(t, systemClock, { DATA_DIR: dataDir })
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=2`)
  return answer.json<{ total_events: number }>().total_events
}

test('a backup made under load holds every event that was answered before it began, once', inTurn(0, 3), async (t) => {
  const dataDir = await tempDir(t)
  const server = await startServerProcess(t, dataDir)
  const api = apiClient(server.url)
  const site = await api.newSite(await api.newClient())
  let sent = 0
  let answered = 0
  let isOver = false
  const connection = async () => {
    while (!isOver) {
      sent++
      const { status } = await api.ingest(site, eventPayload({ timestamp_ms: Date.now() }))
      assert.equal(status, 200)
      answered++
    }
  }
  const load = Promise.all(Array.from({ length: CONNECTIONS }, connection))
  await until('some load', () => (answered > 500 ? true : undefined))

  const file = join(await tempDir(t), 'under-load.db')
  const answeredBefore = answered
  const backup = await runCli(t, ['backup', file], { DATA_DIR: dataDir })
  const sentAtItsEnd = sent
  assert.equal(backup.code, 0, backup.err.join('\n'))
  assert.match(backup.out[0] ?? '', /^backed up to .*under-load\.db: \d+\.\d MB in \d+\.\d s$/)
  assert.match(backup.out[1] ?? '', /^it holds 1 client with 1 site and [\d,]+ events?$/)
  assert.ok(answered > answeredBefore, 'the service went on meanwhile')
  isOver = true
  await load
  const calm = join(await tempDir(t), 'calm.db')
  assert.equal((await runCliHere(t, ['backup', calm], { DATA_DIR: dataDir })).code, 0)
  assert.equal(await server.end('SIGTERM'), 0)

  const events = await eventsIn(t, file, site)
  assert.ok(
    events >= answeredBefore && events <= sentAtItsEnd,
    `${answeredBefore} answered before, ${sentAtItsEnd} sent by its end, ${events} in the backup`,
  )
  assert.equal(await eventsIn(t, calm, site), answered)
})

test('a backup is one file that its owner alone may read, and has nothing beside it', async (t) => {
  const file = await backupOf(t, 'shop')
  assert.deepEqual(await readdir(join(file, '..')), ['shop.db'])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('a backup never overwrites a file', async (t) => {
  const file = join(await tempDir(t), 'mine.txt')
  await writeFile(file, 'mine')
  assert.match(await refusal(t, ['backup', file], { DATA_DIR: await folderWithSite(t, 'shop') }), /mine\.txt exists/)
  assert.equal(await readFile(file, 'utf8'), 'mine')
})

test('a backup of nothing, or to no folder, says what is missing', async (t) => {
  const target = await tempDir(t)
  const nothing = await refusal(t, ['backup', join(target, 'x.db')], { DATA_DIR: await tempDir(t) })
  assert.match(nothing, /there is no database in DATA_DIR .*: nothing to back up/)
  const DATA_DIR = await folderWithSite(t, 'shop')
  assert.match(await refusal(t, ['backup', join(target, 'no', 'x.db')], { DATA_DIR }), /folder .*no does not exist/)
  assert.deepEqual(await readdir(target), [])
})

test('what this user may not look at is not taken for missing', async (t) => {
  const folder = await tempDir(t)
  // Stands for a folder that belongs to someone else, which root may always enter: it cannot be looked into either.
  const DATA_DIR = join(folder, 'loop')
  await symlink('loop', DATA_DIR)
  const outOfReach = /^tagwarden: .*loop\/tagwarden\.db is out of reach \(.*\): run this as a user who may read it$/
  const database = join(DATA_DIR, 'tagwarden.db')
  assert.match(await refusal(t, ['backup', join(folder, 'backup.db')], { DATA_DIR }), outOfReach)
  assert.match(await refusal(t, ['restore', database], { DATA_DIR: join(folder, 'new') }), outOfReach)
  assert.match(await refusal(t, ['migrate', '--status'], { DATA_DIR }), outOfReach)
})

test('a backup of what this program cannot vouch for is refused and leaves nothing', async (t) => {
  const target = await tempDir(t)
  const refusalOf = (DATA_DIR: string) => refusal(t, ['backup', join(target, 'x.db')], { DATA_DIR })
  const [newer, unmigrated] = [await tempDir(t), await tempDir(t)]
  await makeNewer(newer)
  assert.match(await refusalOf(newer), /is newer than this version \(it has applied 9999-later\)/)
  await makeUnmigrated(unmigrated)
  assert.match(await refusalOf(unmigrated), /is not a Tagwarden database/)
  const damaged = await folderWithSite(t, 'shop')
  await damage(sqlitePath(damaged))
  assert.match(await refusalOf(damaged), /malformed|damaged/)
  assert.deepEqual(await readdir(target), [])
})

test('a signal ends a backup at once and leaves nothing half written', async (t) => {
  const dataDir = await folderWithSite(t, 'shop')
  // Keeps the backup waiting for about a second.
  const lock = new DatabaseSync(sqlitePath(dataDir))
  t.after(() => lock.close())
  lock.exec('pragma locking_mode = exclusive; begin exclusive')
  const target = await tempDir(t)
  const { child, finished } = await startCli(t, ['backup', join(target, 'x.db')], { DATA_DIR: dataDir })
  await until('a file under way', async () => ((await readdir(target)).length > 0 ? true : undefined))
  child.kill('SIGTERM')
  await finished
  assert.equal(child.signalCode, 'SIGTERM')
  assert.deepEqual(await readdir(target), [])
})

test('a restore keeps the database that was there, with all of its log', async (t) => {
  const backup = await backupOf(t, 'from the backup')
  const dataDir = await killedFolder(t, 'later')
  const { code, out, err } = await runCli(t, ['restore', backup], { DATA_DIR: dataDir })
  assert.equal(code, 0, err.join('\n'))
  assert.match(out[0] ?? '', /^restored .* to DATA_DIR .*: \d+\.\d MB in \d+\.\d s$/)
  assert.equal(out[1], 'it holds 1 client with 1 site and 0 events')
  const kept = /^the previous database is now (.*\.before-restore-\d{8}T\d{6}\.\d{3}Z)$/.exec(out[2] ?? '')?.[1]
  assert.deepEqual(await siteNames(dataDir), ['from the backup'])
  const again = await tempDir(t)
  assert.equal((await runCliHere(t, ['restore', kept ?? ''], { DATA_DIR: again })).code, 0)
  assert.deepEqual(await siteNames(again), ['later'])
})

test('a database that is none any more is kept as it is', async (t) => {
  const backup = await backupOf(t, 'from the backup')
  const dataDir = await tempDir(t)
  await writeFile(sqlitePath(dataDir), 'no database any more'.repeat(500))
  const { out } = await runCliHere(t, ['restore', backup], { DATA_DIR: dataDir })
  const kept = /is now (.*)$/.exec(out[2] ?? '')?.[1] ?? ''
  assert.equal(await readFile(kept, 'utf8'), 'no database any more'.repeat(500))
  assert.deepEqual(await siteNames(dataDir), ['from the backup'])
})

test('a restored backup of an older schema says what the next start migrates', async (t) => {
  const dataDir = await folderWithSite(t, 'shop')
  const db = new DatabaseSync(sqlitePath(dataDir))
  db.exec("delete from kysely_migration where name <> '0001-foundation'")
  db.close()
  const { out } = await runCliHere(t, ['restore', sqlitePath(dataDir)], { DATA_DIR: await tempDir(t) })
  assert.match(out[2] ?? '', /^the next start migrates it: 0002-/)
})

test('a restore is refused while the service runs, which goes on', async (t) => {
  const backup = await backupOf(t, 'shop')
  const dataDir = await tempDir(t)
  const api = await startTestService(t, systemClock, { DATA_DIR: dataDir })
  const files = await readdir(dataDir)
  const line = await refusal(t, ['restore', backup], { DATA_DIR: dataDir }, runCli)
  assert.match(line, /DATA_DIR .* is in use by a running Tagwarden: stop it, then restore$/)
  assert.deepEqual(await readdir(dataDir), files)
  assert.equal((await fetch(`${api.url}/ready`)).status, 200)
})

test('a restore is refused while another program reads the old database', async (t) => {
  const backup = await backupOf(t, 'shop')
  const dataDir = await killedFolder(t, 'later')
  const reader = new DatabaseSync(sqlitePath(dataDir), { readOnly: true })
  reader.exec('begin; select 1 from sites')
  assert.match(await refusal(t, ['restore', backup], { DATA_DIR: dataDir }), /is open in another program/)
  reader.close()
  assert.deepEqual(await siteNames(dataDir), ['later'])
})

/** Is killed before its n-th change of the folder; resolves with whether it came to its end before that. */
async function restoreKilledAt(t: TestContext, n: number, backup: string, dataDir: string): Promise<boolean> {
  const environment = { DATA_DIR: dataDir, KILL_AT: String(n), NODE_OPTIONS: `--import=${KILLER}` }
  const { child, finished } = await startCli(t, ['restore', backup], environment)
  const { code, err } = await finished
  assert.ok(code === 0 || child.signalCode === 'SIGKILL', err.join('\n'))
  return code === 0
}

test(
  'wherever a restore is killed, the next start finds the old database or the new one, whole',
  inTurn(1, 3),
  async (t) => {
    const backup = await backupOf(t, 'new')
    const before = await killedFolder(t, 'old')
    const found: string[] = []
    for (let n = 1, isDone = false; !isDone; n++) {
      const dataDir = await tempDir(t)
      await cp(before, dataDir, { recursive: true })
      isDone = await restoreKilledAt(t, n, backup, dataDir)
      found.push(...(await siteNames(dataDir)))
    }
    assert.ok(found.length > 5)
    assert.match(found.join(' '), /^(old )+(new ?)+$/)
  },
)

test('what a killed restore left is gone after the next', async (t) => {
  const backup = await backupOf(t, 'new')
  const dataDir = await tempDir(t)
  assert.equal(await restoreKilledAt(t, 1, backup, dataDir), false)
  assert.ok((await readdir(dataDir)).includes('tagwarden.db.restoring'))
  assert.equal((await runCliHere(t, ['restore', backup], { DATA_DIR: dataDir })).code, 0)
  assert.deepEqual(await readdir(dataDir), ['tagwarden.db', 'tagwarden.lock'])
})

interface NoBackup {
  what: string
  make: (t: TestContext) => Promise<string>
  says: RegExp
}

const NO_BACKUPS: readonly NoBackup[] = [
  { what: 'a file that is not there', make: async (t) => join(await tempDir(t), 'x.db'), says: /x\.db does not exist/ },
  {
    what: 'a text',
    make: async (t) => {
      const file = join(await tempDir(t), 'x.db')
      await writeFile(file, 'a text of some length that is no database')
      return file
    },
    says: /x\.db is not an SQLite database$/,
  },
  {
    what: "another program's database",
    make: async (t) => {
      const file = join(await tempDir(t), 'x.db')
      const db = new DatabaseSync(file)
      db.exec('create table songs (title text)')
      db.close()
      return file
    },
    says: /x\.db is not a Tagwarden database$/,
  },
  {
    what: 'a backup by a newer program',
    make: async (t) => {
      const dataDir = await tempDir(t)
      await makeNewer(dataDir)
      return sqlitePath(dataDir)
    },
    says: /is newer than this version \(it has applied 9999-later\)/,
  },
  {
    what: 'a backup cut short',
    make: async (t) => {
      const file = await backupOf(t, 'shop')
      await truncate(file, 40_000)
      return file
    },
    says: /shop\.db is damaged: /,
  },
  {
    what: 'a backup with a torn page',
    make: async (t) => {
      const file = await backupOf(t, 'shop')
      await damage(file)
      return file
    },
    says: /shop\.db is damaged: /,
  },
  {
    what: 'the database of a running or killed service',
    make: async (t) => sqlitePath(await killedFolder(t, 'shop')),
    says: /tagwarden\.db-wal belongs to .*: it is a database in use, not a backup$/,
  },
]

for (const { what, make, says } of NO_BACKUPS) {
  test(`a restore of ${what} is refused and changes nothing`, async (t) => {
    const file = await make(t)
    const dataDir = await folderWithSite(t, 'mine')
    const files = await readdir(dataDir)
    assert.match(await refusal(t, ['restore', file], { DATA_DIR: dataDir }), says)
    assert.deepEqual(await readdir(dataDir), files)
    assert.deepEqual(await siteNames(dataDir), ['mine'])
  })
}

test('the database itself is not restored over itself', async (t) => {
  const dataDir = await folderWithSite(t, 'mine')
  assert.match(await refusal(t, ['restore', sqlitePath(dataDir)], { DATA_DIR: dataDir }), /is the database itself/)
})

for (const command of ['backup', 'restore']) {
  test(`${command} of PostgreSQL is left to PostgreSQL's own tools`, async (t) => {
    const environment = {
      DATA_DIR: await tempDir(t),
      DATABASE_URL: 'postgres://user:password@127.0.0.1:5432/tagwarden',
    }
    assert.match(await refusal(t, [command, 'x.db'], environment), /DATABASE_URL is set.* pg_dump .* pg_restore$/)
  })
}

/** Tears the middle out of a database file: the page with the schema stays. */
async function damage(path: string): Promise<void> {
  const bytes = await readFile(path)
  await writeFile(path, bytes.fill(0xab, 8_192, bytes.length - 4_096))
}

/** The folder of a service that was killed: what it committed is in the write-ahead log. */
async function killedFolder(t: TestContext, siteName: string): Promise<string> {
  const folder = await tempDir(t)
  await folderWithSite(t, siteName, (open) => cp(open, folder, { recursive: true }))
  assert.ok((await stat(`${sqlitePath(folder)}-wal`)).size > 0)
  return folder
}
