import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { versionsToPublish } from '../../scripts/site-versions.ts'
import { newFolder, removeFolder } from '../../testkit/folders.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const run = promisify(execFile)

test('before the first release the site has one part, from what is checked out', () => {
  assert.deepEqual(versionsToPublish([]), [{ name: 'next', tag: null, folder: '' }])
  assert.deepEqual(versionsToPublish(['v1.0.0-rc.1', 'nightly', '1.0.0', 'v1.0']), [
    { name: 'next', tag: null, folder: '' },
  ])
})

test('the newest release is at the root, each earlier minor version in its folder by its newest patch', () => {
  assert.deepEqual(versionsToPublish(['v0.10.0', 'v0.2.9', 'v0.9.1', 'v0.2.10', 'v1.0.0', 'v1.0.1-rc.1']), [
    { name: 'v1.0', tag: 'v1.0.0', folder: '' },
    { name: 'v0.10', tag: 'v0.10.0', folder: 'v0.10/' },
    { name: 'v0.9', tag: 'v0.9.1', folder: 'v0.9/' },
    { name: 'v0.2', tag: 'v0.2.10', folder: 'v0.2/' },
    { name: 'next', tag: null, folder: 'next/' },
  ])
})

test('the site is built with a part for each release, and each lists all of them', AT_NIGHT, async (t) => {
  const folder = await newFolder(tmpdir())
  t.after(() => removeFolder(folder))
  const clone = join(folder, 'clone')
  await run('git', ['clone', '--quiet', REPOSITORY, clone])
  symlinkSync(join(REPOSITORY, 'node_modules'), join(clone, 'node_modules'))
  for (const tag of ['v0.1.0', 'v0.2.0']) await run('git', ['tag', tag], { cwd: clone })
  const env = { ...process.env, SITE_BASE: '/docs/', SITE_ORIGIN: 'https://example.com' }
  const { stdout } = await run(process.execPath, ['scripts/site-versions.ts'], { cwd: clone, env })
  assert.match(stdout, /v0\.2, v0\.1, next: 0 dead links/)
  const parts = { '': 'v0.2', 'v0.1/': 'v0.1', 'next/': 'next' }
  for (const [part, own] of Object.entries(parts)) {
    const page = readFileSync(join(clone, 'site/dist', part, 'tag.html'), 'utf8')
    assert.match(page, new RegExp(`<span class="text"[^>]*>(?:<!---->)?<span[^>]*>${own}</span>`))
    for (const other of Object.keys(parts)) assert.ok(page.includes(`href="https://example.com/docs/${other}"`), other)
  }
  // The newest release is at the root alone.
  assert.ok(!existsSync(join(clone, 'site/dist/v0.2')))
})
