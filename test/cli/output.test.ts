import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { tempDir } from '../../testkit/engines.ts'
import { PROGRAM } from '../../testkit/repository.ts'

test('a reader that has seen enough, such as head, ends no command halfway', async (t) => {
  const env = { DATA_DIR: await tempDir(t) }
  const child = spawn(process.execPath, [PROGRAM, 'migrate'], {
    cwd: env.DATA_DIR,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  child.stdout.destroy()
  const err = text(child.stderr)
  assert.deepEqual([await once(child, 'close'), await err], [[0, null], ''])
})

/** Takes no byte, as a file on a disk that is full. */
const FULL = '/dev/full'

test('output that cannot be written, as on a full disk, is said once and is a failure', {
  skip: !existsSync(FULL) && 'only Linux has such a file',
}, async (t) => {
  const output = openSync(FULL, 'a')
  const args = [PROGRAM, 'export', '--schema']
  const child = spawn(process.execPath, args, { stdio: ['ignore', output, 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  closeSync(output)
  assert.ok(child.stderr !== null)
  const err = text(child.stderr)
  assert.deepEqual(
    [await once(child, 'close'), await err],
    [[1, null], 'tagwarden: the output cannot be written: ENOSPC: no space left on device, write\n'],
  )
})
