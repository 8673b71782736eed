import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Mutex } from '../../src/lib/index.ts'
import { connectWithoutThread } from '../../src/store/index.ts'
import { Checkpoints } from '../../src/store/sqlite/checkpoints.ts'
import { LateConnection } from '../../src/store/sqlite/late-connection.ts'
import { tempDir } from '../../testkit/engines.ts'

/**
 * A database whose write-ahead log is moved by `tick`, as each second; `helpers` counts the threads opened for it.
 *
 * @param connect opens such a thread
 */
async function database(t: TestContext, connect: typeof connectWithoutThread = connectWithoutThread) {
  const folder = await tempDir(t)
  const options = { path: join(folder, 'a.db'), lockPath: join(folder, 'a.lock') }
  const writer = await connectWithoutThread({ ...options, mode: 'writer' })
  const counts = { helpers: 0 }
  const helper = new LateConnection(() => {
    counts.helpers += 1
    return connect({ ...options, mode: 'checkpointer' })
  })
  t.after(async () => {
    await helper.close()
    await writer.close()
  })
  const query = (sql: string) => writer.request({ kind: 'query', sql, parameters: [] })
  await query('create table t (x blob)')
  const checkpoints = new Checkpoints({ thread: writer, turn: new Mutex() }, helper)
  const unmoved = async () => {
    const [log] = (await query('pragma wal_checkpoint(noop)')).rows
    return Number(log?.log) - Number(log?.checkpointed)
  }
  /** Makes the log this many pages longer, and a few more. */
  const write = (pages: number) => query(`insert into t values (zeroblob(${pages * 4096}))`)
  return { checkpoints, counts, write, unmoved }
}

test('a quiet service moves its write-ahead log without a thread, now and then', async (t) => {
  const { checkpoints, counts, write, unmoved } = await database(t)
  await write(50)
  await checkpoints.tick()
  assert.ok((await unmoved()) > 50, 'a short log stays')
  for (let second = 0; second < 10; second += 1) {
    await write(150)
    await checkpoints.tick()
    assert.ok((await unmoved()) < 1_200)
  }
  assert.equal(counts.helpers, 0)
})

test('what a start writes, as for a new database, opens no thread', async (t) => {
  const { checkpoints, counts, write, unmoved } = await database(t)
  await write(1_500)
  await checkpoints.tick()
  assert.equal(await unmoved(), 0)
  await checkpoints.tick()
  assert.equal(counts.helpers, 0)
})

test('a busy service moves its log beside the commits from the first busy second on', async (t) => {
  const { checkpoints, counts, write, unmoved } = await database(t)
  await checkpoints.tick()
  await write(300)
  await checkpoints.tick()
  assert.deepEqual({ helpers: counts.helpers, unmoved: await unmoved() }, { helpers: 1, unmoved: 0 })
  await write(10)
  await checkpoints.tick()
  assert.equal(await unmoved(), 0)
})

test('a busy service whose thread cannot be opened moves its log with the writer, and tries the thread again', async (t) => {
  const { checkpoints, counts, write, unmoved } = await database(t, () => Promise.reject(new Error('too many threads')))
  await checkpoints.tick()
  for (let second = 1; second <= 3; second += 1) {
    await write(300)
    await assert.rejects(checkpoints.tick(), /too many threads/)
    assert.deepEqual({ helpers: counts.helpers, unmoved: await unmoved() }, { helpers: second, unmoved: 0 })
  }
})
