import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runChecks } from '../../scripts/side-by-side.ts'
import { tempDir } from '../../testkit/engines.ts'

/** Each prints two lines, with time between them for others to print theirs. */
const PASSES = `console.log('begins', process.argv[2]); setTimeout(() => console.log('ends', process.argv[2]), 50)`
const FAILS = `${PASSES}; process.exitCode = 3; console.error('wrong')`
const DIES = `process.kill(process.pid, 'SIGKILL')`

async function check(t: TestContext, scripts: readonly string[]) {
  const folder = await tempDir(t)
  const files = await Promise.all(
    scripts.map(async (source, n) => {
      const file = join(folder, `check-${n}.mjs`)
      await writeFile(file, source)
      return [file, `number ${n}`]
    }),
  )
  const printed: string[] = []
  const passed = await runChecks(files, (text) => printed.push(text))
  return { passed, text: printed.join(''), nameOf: (n: number) => files[n]?.join(' ') }
}

test('checks that run at once each print in one piece, and all of them passing is a success', async (t) => {
  const { passed, text } = await check(t, [PASSES, PASSES, PASSES])
  assert.equal(passed, true)
  for (const n of [0, 1, 2]) assert.ok(text.includes(`begins number ${n}\nends number ${n}\n`), text)
  assert.equal(text.split('\n').length, 7)
})

test('a check that fails or is killed does not keep others from running, and is named at the end', async (t) => {
  const { passed, text, nameOf } = await check(t, [FAILS, DIES, PASSES])
  assert.equal(passed, false)
  assert.match(text, /ends number 2\n/)
  assert.match(text, /begins number 0\nends number 0\nwrong\n/)
  const last = text.trimEnd().split('\n').slice(-2).sort()
  assert.deepEqual(last, [`FAILED: ${nameOf(0)} (exit code 3)`, `FAILED: ${nameOf(1)} (SIGKILL)`])
})
