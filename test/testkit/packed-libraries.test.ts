import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { packLibraries } from '../../testkit/processes/packed-libraries.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const LOOK = `
const names = ['kysely', 'kysely/migration', 'typebox', 'typebox/schema']
const found = names.map(async (name) => [import.meta.resolve(name), Object.keys(await import(name)).sort()])
console.log(JSON.stringify(await Promise.all(found)))
`

test('a process with packed libraries takes those, and they export what the installed ones do', async () => {
  const look = async (options: readonly string[]) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...options, '--input-type=module', '--eval', LOOK],
      // Nothing of what this process was started with.
      { cwd: REPOSITORY, env: {} },
    )
    return JSON.parse(stdout) as [url: string, names: string[]][]
  }
  const [installed, packed] = await Promise.all([look([]), look(await packLibraries())])
  for (const [index, [url, names]] of installed.entries()) {
    const [from, exported] = packed[index] ?? ['']
    assert.match(url, /node_modules\/(kysely|typebox)\//)
    assert.match(from, /\/tagwarden-packed\//)
    assert.deepEqual(exported, names, url)
  }
})

test('a run of tests that has built something is no production to what it starts', () => {
  assert.notEqual(process.env.NODE_ENV, 'production')
})
