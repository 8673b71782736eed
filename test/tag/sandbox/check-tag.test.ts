import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { newFolder, removeFolder } from '../../../testkit/folders.ts'
import { fixture, lineWith, scenarios } from './fixture.ts'

const SCRIPT = join(import.meta.dirname, '../../../scripts/check-tag.ts')

const FILES: readonly { what: string; bytes: string | Uint8Array; status: number; says: RegExp }[] = [
  { what: 'a sound template', bytes: fixture({ tests: scenarios({ Runs: 'runCode({});' }) }), status: 0, says: /^$/ },
  {
    what: 'a wish of the gallery',
    bytes: fixture({ terms: '', tests: scenarios({ Runs: 'runCode({});' }) }),
    status: 0,
    says: /:\d+ warning gallery: The gallery refuses/,
  },
  { what: 'a broken file', bytes: 'Hello', status: 1, says: /:1 sections: The section ___INFO___ is missing/ },
  {
    what: 'a lint finding',
    bytes: fixture({ code: 'data.gtmOnSuccess(/a/);' }),
    status: 1,
    says: /:\d+ syntax: Regex literals/,
  },
  {
    what: 'a failing scenario',
    bytes: fixture({ tests: scenarios({ Fails: "\nfail('So it is');" }) }),
    status: 1,
    says: /:LINE tests: Fails: AssertionFailed: So it is/,
  },
  {
    what: 'bytes that are no text',
    bytes: new Uint8Array([0xff, 0xfe]),
    status: 1,
    says: /:1 characters: The file is not UTF-8/,
  },
]

for (const { what, bytes, status, says } of FILES) {
  test(`The check of the tag ends with ${status} for ${what}`, async (t) => {
    const file = await fileWith(t, bytes)
    const { status: code, stderr } = check(file)
    assert.equal(code, status, stderr)
    const line = typeof bytes === 'string' ? lineWith(bytes, "fail('So") : 0
    assert.match(stderr, new RegExp(says.source.replace('LINE', String(line))))
    if (status !== 0) assert.ok(stderr.startsWith(`${file}:`))
  })
}

test('A failing scenario is reported beside warnings', async (t) => {
  const { status, stderr } = check(await fileWith(t, fixture({ terms: '', tests: scenarios({ Fails: 'fail();' }) })))
  assert.equal(status, 1)
  assert.match(stderr, /warning gallery[\s\S]*tests: Fails/)
})

test('Held to all of it, a template fails by what is a warning otherwise', async (t) => {
  const { status, stderr } = check('--strict', await fileWith(t, fixture({ terms: '' })))
  assert.equal(status, 1)
  assert.match(stderr, /:\d+ gallery: The gallery refuses/)
})

const check = (...args: string[]) => spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' })

async function fileWith(t: TestContext, bytes: string | Uint8Array): Promise<string> {
  const folder = await newFolder(tmpdir())
  t.after(() => removeFolder(folder))
  const file = join(folder, 'template.tpl')
  writeFileSync(file, bytes)
  return file
}
