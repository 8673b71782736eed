import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { programForTests } from '../../scripts/program-for-tests.ts'
import { VERSION } from '../../src/version.ts'
import { tempDir } from '../../testkit/engines.ts'
import { NodeProcess } from '../../testkit/processes/node-process.ts'

test('the program that tests start is a bundle, is made once, and finds what it reads', async (t) => {
  const program = await programForTests()
  assert.equal(await programForTests(), program)
  const top = join(program, '../..')
  assert.ok(!existsSync(join(top, 'src')), 'it would run the sources')
  for (const read of ['tag/template.tpl', 'web/dist/index.html']) assert.ok(existsSync(join(top, read)), read)
  const folder = await tempDir(t)
  const started = new NodeProcess({ name: 'bundle', args: [program, '--version'], folder, logFolder: folder })
  started.launch()
  assert.equal(await started.ended(), 0, started.log)
  assert.deepEqual(started.out, [VERSION])
})
