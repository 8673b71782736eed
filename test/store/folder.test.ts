import assert from 'node:assert/strict'
import { chmod, chown, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { StartupError, systemClock } from '../../src/lib/index.ts'
import { startService } from '../../src/main.ts'
import { connectWithoutThread, keepPrivate, migrate, openSqliteStore, sqlitePath } from '../../src/store/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'

/** The one line with which a folder is refused. */
async function refusal(dataDir: string): Promise<string> {
  const thrown: unknown = await openSqliteStore(dataDir).then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(thrown instanceof StartupError)
  assert.doesNotMatch(thrown.message, /\n/)
  return thrown.message
}

test('a folder belongs to one opening at a time, and to the next when that one closes', async (t) => {
  const dataDir = await tempDir(t)
  const first = await openSqliteStore(dataDir)
  await migrate(first.write, first.columnTypes)
  assert.match(await refusal(dataDir), /is in use by another Tagwarden process: stop that one, or give this one/)
  assert.ok((await refusal(dataDir)).startsWith(`DATA_DIR ${dataDir} `))
  const { id } = await insertSite(first)
  await first.close()

  const second = await openSqliteStore(dataDir)
  t.after(() => second.close())
  assert.deepEqual(await second.read.selectFrom('sites').select('id').execute(), [{ id }])
})

test('a start that gets some of its threads closes them, or the process would not end', async (t) => {
  const dataDir = await tempDir(t)
  for (const failing of ['reader', 'writer']) {
    const open = new Set<string>()
    const opening = openSqliteStore(dataDir, {
      async connect(options) {
        if (options.mode === failing) throw new Error('too many threads')
        const connection = await connectWithoutThread(options)
        open.add(options.mode)
        return {
          request: (request) => connection.request(request),
          async close() {
            await connection.close()
            open.delete(options.mode)
          },
        }
      },
    })
    await assert.rejects(opening, /cannot be used: too many threads$/)
    assert.deepEqual([...open], [], failing)
  }
})

test('while another file or none is in the place of the database nothing is written that would be lost', async (t) => {
  const dataDir = await tempDir(t)
  const store = await openSqliteStore(dataDir)
  t.after(() => store.close())
  await migrate(store.write, store.columnTypes)
  await insertSite(store)
  const path = sqlitePath(dataDir)
  const write = () => store.write.updateTable('sites').set({ name: 'shop' }).execute()
  const isWritten = () =>
    write().then(
      () => true,
      () => false,
    )
  await rename(path, `${path}.away`)
  await until('writing is refused', async () => ((await isWritten()) ? undefined : true))
  assert.equal((await store.read.selectFrom('sites').select('name').execute()).length, 1, 'what is there can be read')
  await writeFile(path, 'another')
  await assert.rejects(write(), /tagwarden\.db was removed or replaced/)
  await rename(`${path}.away`, path)
  await until('writing works again', async () => ((await isWritten()) ? true : undefined))
})

test('a missing folder is made, with those above it, and no other user may look into it', async (t) => {
  const dataDir = join(await tempDir(t), 'not', 'yet')
  const store = await openSqliteStore(dataDir)
  t.after(() => store.close())
  assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
  assert.deepEqual((await migrate(store.write, store.columnTypes)).slice(0, 1), ['0001-foundation'])
})

test('what the store puts into a folder that all may look into is for its owner alone', async (t) => {
  const dataDir = await tempDir(t)
  await chmod(dataDir, 0o755)
  const store = await openSqliteStore(dataDir)
  t.after(() => store.close())
  await migrate(store.write, store.columnTypes)
  const names = await readdir(dataDir)
  assert.ok(names.includes('tagwarden.db') && names.includes('tagwarden.db-wal') && names.includes('tagwarden.lock'))
  for (const name of names) assert.equal((await stat(join(dataDir, name))).mode & 0o777, 0o600, name)
})

test('files of a database that others could open are taken from them, once', async (t) => {
  const dataDir = await tempDir(t)
  const location = { dataDir, databaseUrl: null, databaseReadUrl: null, databasePoolSize: 0 }
  const path = sqlitePath(dataDir)
  const files = [path, `${path}-wal`, `${path}-shm`, join(dataDir, 'tagwarden.lock')]
  const store = await openSqliteStore(dataDir)
  t.after(() => store.close())
  await migrate(store.write, store.columnTypes)
  assert.deepEqual(await keepPrivate(location), [])
  const modes = [0o644, 0o660, 0o604, 0o666]
  for (const [index, file] of files.entries()) await chmod(file, modes[index] ?? 0)
  assert.deepEqual(await keepPrivate(location), files)
  for (const file of files) assert.equal((await stat(file)).mode & 0o777, 0o600, file)
  assert.deepEqual(await keepPrivate(location), [])
  const { id } = await insertSite(store)
  assert.deepEqual(await store.read.selectFrom('sites').select('id').execute(), [{ id }])
})

test('files of another owner are left as they are, and an unreadable one stops nothing', async (t) => {
  const dataDir = await tempDir(t)
  const location = { dataDir, databaseUrl: null, databaseReadUrl: null, databasePoolSize: 0 }
  assert.deepEqual(await keepPrivate(location), [])
  const path = sqlitePath(dataDir)
  await symlink(path, path)
  assert.deepEqual(await keepPrivate(location), [])
  await rm(path)
  await writeFile(path, '', { mode: 0o644 })
  if (process.getuid?.() !== 0) return
  await chown(path, 65_534, 65_534)
  assert.deepEqual(await keepPrivate(location), [])
  assert.equal((await stat(path)).mode & 0o777, 0o644)
})

test('a start reports once which files of the database others could open', async (t) => {
  const dataDir = await tempDir(t)
  const start = async () => {
    const lines: string[] = []
    const log = pino({}, { write: (line) => lines.push(line) })
    const service = await startService({
      config: readConfig({ DATA_DIR: dataDir, PORT: '0' }),
      clock: systemClock,
      log,
    })
    await service.stop(0)
    return lines.filter((line) => line.includes('only their owner'))
  }
  const [path, lock] = [sqlitePath(dataDir), join(dataDir, 'tagwarden.lock')]
  assert.deepEqual(await start(), [])
  await chmod(path, 0o644)
  const [line, ...more] = await start()
  assert.deepEqual(more, [])
  assert.ok(line?.includes(path) && !line.includes(lock), line)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.deepEqual(await start(), [])
})

test('a file system that takes no folders is one clear line', { skip: process.platform !== 'linux' }, async () => {
  assert.equal(await refusal('/proc/data'), 'DATA_DIR /proc/data cannot be used: no folder can be made in /proc')
  assert.equal(
    await refusal('/proc/new/data'),
    'DATA_DIR /proc/new/data cannot be used: no folder can be made in /proc',
  )
  assert.equal(await refusal('/dev/null'), 'DATA_DIR /dev/null cannot be used: /dev/null is not a folder')
  assert.match(await refusal('/dev/null/data'), /^DATA_DIR \/dev\/null\/data cannot be used: /)
})

test('a file in the place of the folder is one clear line', async (t) => {
  const file = join(await tempDir(t), 'data')
  await writeFile(file, '')
  assert.ok((await refusal(file)).startsWith(`DATA_DIR ${file} cannot be used: `))
})

test('a database file that is none is one clear line, and the folder is free again', async (t) => {
  const dataDir = await tempDir(t)
  await writeFile(sqlitePath(dataDir), 'a text of some length that is no database at all'.repeat(100))
  for (let attempt = 0; attempt < 2; attempt++) {
    assert.equal(await refusal(dataDir), `DATA_DIR ${dataDir} cannot be used: file is not a database`)
  }
})
