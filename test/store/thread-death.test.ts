import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { SqliteConnection } from '../../src/store/sqlite/connection.ts'
import type { ThreadOptions } from '../../src/store/sqlite/protocol.ts'
import { ConnectionThread } from '../../src/store/sqlite/thread.ts'
import { tempDir } from '../../testkit/engines.ts'

const optionsIn = (folder: string): ThreadOptions => ({
  path: join(folder, 'test.db'),
  mode: 'writer',
  lockPath: join(folder, 'test.lock'),
})

/** A thread that opens and dies of its first request. */
const MORTAL = `import { parentPort } from 'node:worker_threads'
parentPort.postMessage({ id: 0, ok: true })
parentPort.on('message', () => { throw new Error('out of order') })`

const query = (sql: string) => ({ kind: 'query', sql, parameters: [] }) as const

test('a database thread that dies is reported once, with its reason, and fails its queries', async (t) => {
  const folder = await tempDir(t)
  const entry = join(folder, 'mortal.mjs')
  await writeFile(entry, MORTAL)
  const { promise: died, resolve } = Promise.withResolvers<Error>()
  let deaths = 0
  const onDeath = (error: Error) => {
    deaths++
    resolve(error)
  }
  const thread = await ConnectionThread.open(optionsIn(folder), onDeath, pathToFileURL(entry))
  await assert.rejects(thread.request(query('select 1')), { kind: 'closed', message: /thread failed: out of order/ })
  assert.match((await died).message, /the database thread failed: out of order/)
  await assert.rejects(thread.request(query('select 1')), { kind: 'closed' })
  await thread.close()
  assert.equal(deaths, 1)
})

test('a thread that is closed has not died', async (t) => {
  const thread = await ConnectionThread.open(optionsIn(await tempDir(t)), (error) => assert.fail(error))
  await thread.request(query('select 1'))
  await thread.close()
  await assert.rejects(thread.request(query('select 1')), { kind: 'closed', message: 'the database is closed' })
})

test('a connection that is replaced in a transaction has undone it, and goes on under the same lock', async (t) => {
  const options = optionsIn(await tempDir(t))
  const connection = new SqliteConnection(options)
  t.after(() => connection.close())
  connection.query('create table numbers (n integer)', [])
  connection.query('begin immediate', [])
  connection.query('insert into numbers values (1)', [])
  connection.replace()
  connection.batch([{ kind: 'statement', sql: 'insert into numbers values (2)', parameters: [] }])
  assert.deepEqual(
    connection.query('select n from numbers', []).rows.map(([n]) => n),
    [2],
  )
  assert.throws(() => new SqliteConnection(options), /locked/)
})

test('a batch on a connection with a transaction left open fails, and the next one works', async (t) => {
  const connection = new SqliteConnection(optionsIn(await tempDir(t)))
  t.after(() => connection.close())
  connection.query('create table numbers (n integer)', [])
  connection.query('begin immediate', [])
  const insert = [{ kind: 'statement', sql: 'insert into numbers values (3)', parameters: [] }] as const
  assert.throws(() => connection.batch(insert), /within a transaction/)
  connection.batch(insert)
  assert.equal(connection.query('select n from numbers', []).rows.length, 1)
})
