import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ConnectionThread } from '../../src/store/sqlite/thread.ts'
import { tempDir } from '../../testkit/engines.ts'

async function openThread(t: TestContext): Promise<ConnectionThread> {
  const folder = await tempDir(t)
  const options = { path: join(folder, 'test.db'), mode: 'writer', lockPath: join(folder, 'test.lock') } as const
  const thread = await ConnectionThread.open(options, (error) => assert.fail(error))
  t.after(() => thread.close())
  return thread
}

/** Numbers up to `count`, as the thread answers them. */
async function numbers(thread: ConnectionThread, count: number): Promise<unknown[]> {
  const sql = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < ?) select i from n'
  const { rows } = await thread.request({ kind: 'query', sql, parameters: [count] })
  return rows.map(({ i }) => i)
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('every row of an answer comes once and in order, however many parts it crosses in', async (t) => {
  const thread = await openThread(t)
  for (const count of [1, 499, 500, 501, 1_000, 2_345]) assert.deepEqual(await numbers(thread, count), upTo(count))
})

test('answers that are asked for at the same time do not mix', async (t) => {
  const thread = await openThread(t)
  const counts = [1_200, 3, 1_700, 600]
  const answers = await Promise.all(counts.map((count) => numbers(thread, count)))
  assert.deepEqual(answers, counts.map(upTo))
})

test('others get their turns while a long answer crosses', async (t) => {
  const thread = await openThread(t)
  let turns = 0
  let isDone = false
  const answer = numbers(thread, 20_000).finally(() => {
    isDone = true
  })
  // The first part has come when a second query, which the thread does after the first, is still not answered.
  while (!isDone) {
    await setImmediate()
    turns++
  }
  assert.equal((await answer).length, 20_000)
  assert.ok(turns >= 40, `${turns} turns for 40 parts`)
})
