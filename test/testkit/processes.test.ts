import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/engines.ts'
import { NodeProcess } from '../../testkit/processes/node-process.ts'
import { remote } from '../../testkit/processes/worker-calls.ts'
import type { ExampleCalls } from './example-worker.ts'

async function processOf(t: TestContext, ...args: string[]): Promise<NodeProcess> {
  const folder = await tempDir(t)
  const process = new NodeProcess({ name: 'example', args, folder, logFolder: folder, isWorker: true })
  t.after(() => process.kill())
  return process
}

const PRINTS = 'console.log("I am", process.env.WHO); setInterval(() => undefined, 1e6)'

test('a process is started again and again, and waited for by what it prints since', async (t) => {
  const example = await processOf(t, '-e', PRINTS)
  example.launch({ WHO: 'one' })
  assert.equal(await example.printed(/^I am (\w+)/), 'one')
  assert.equal(await example.end('SIGTERM'), null)
  example.launch({ WHO: 'two' })
  assert.equal(await example.printed(/^I am (\w+)/), 'two')
  assert.deepEqual(example.out, ['I am one', 'I am two'])
  await example.kill()
  assert.equal(example.isRunning, false)
  assert.match(example.state(), /^example ended with SIGKILL, last output:\nI am one\nI am two$/)
})

test('who waits for what a process will not print any more learns how it ended', async (t) => {
  const example = await processOf(t, '-e', 'console.error("no disk"); process.exit(3)')
  example.launch()
  await assert.rejects(example.printed(/ready/), /^Error: example ended with exit code 3, last output:\nno disk$/)
  assert.deepEqual([await example.ended(), example.out, example.err], [3, [], ['no disk']])
})

test('a worker answers calls that overlap, each with its own result or error', async (t) => {
  const worker = await processOf(t, join(import.meta.dirname, 'example-worker.ts'))
  worker.launch()
  const calls = remote<ExampleCalls>(worker)
  const slow = calls.later(50, 'slow')
  assert.deepEqual(await calls.double(new Uint8Array([1, 2])), new Uint8Array([2, 4]))
  await assert.rejects(calls.fail(), /Error: not today/)
  assert.equal(await slow, 'slow')
})

test('a call to a worker that ends fails, with what the worker wrote last', async (t) => {
  const worker = await processOf(t, join(import.meta.dirname, 'example-worker.ts'))
  worker.launch()
  const calls = remote<ExampleCalls>(worker)
  await assert.rejects(calls.end(), /^Error: example ended with exit code 1, last output:\nleaving$/)
  await assert.rejects(calls.double(new Uint8Array()), /^Error: example ended with exit code 1/)
})
