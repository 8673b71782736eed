import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { tempDir } from '../../testkit/engines.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const ENDING = pathToFileURL(join(REPOSITORY, 'testkit/processes/ending.mjs')).href

/** Runs a test file as `scripts/test.ts` does. */
async function runFile(t: TestContext, source: string, settings: Record<string, string> = {}) {
  const file = join(await tempDir(t), 'leaking.test.mjs')
  await writeFile(file, `import test from 'node:test'\nimport { createServer } from 'node:net'\n${source}`)
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const child = spawn(process.execPath, ['--import', ENDING, file], { env: { ...environment, ...settings } })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  return { code, out, err }
}

test('every clean-up of a test runs when the first one throws, and the test fails with its error', async (t) => {
  const { code, out, err } = await runFile(
    t,
    `test('it', (t) => {
      const server = createServer().listen(0)
      t.after(() => t.after(() => console.error('removed')))
      t.after(() => { throw new Error('the first') })
      t.after(async () => { throw new Error('the second') })
      t.after(() => { server.close(); console.error('closed') })
    })`,
  )
  assert.equal(code, 1)
  assert.match(out, /the first/)
  assert.doesNotMatch(out, /the second/)
  assert.equal(err, 'closed\nremoved\n')
})

test('a test process that something keeps alive after its last test ends, fails and names its files', async (t) => {
  const { code, err } = await runFile(
    t,
    `// as in an entry that imports "file:///a/test/e2e/one.test.ts" and "file:///a/test/two.test.ts"
    test('it', () => { createServer().listen(0) })`,
    { TEST_GRACE_MS: '50' },
  )
  assert.equal(code, 1)
  assert.match(err, /^FAILED: .*one\.test\.ts.*two\.test\.ts.* 0\.05 s after .*TCPServerWrap/)
})

test('a test process that nothing keeps alive succeeds', async (t) => {
  const { code, err } = await runFile(t, `test('it', (t) => t.after(() => undefined))`)
  assert.deepEqual({ code, err }, { code: 0, err: '' })
})
