import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/engines.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

/** Stands in for Vite: it builds a page of what `web/page` says, or fails as that file says. */
const VITE = `
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const [, , command, root, option, folder] = process.argv
if (command !== 'build' || option !== '--outDir') process.exit(9)
const page = readFileSync(root + '/page', 'utf8')
if (page === 'wrong') { console.error('page is wrong'); process.exit(1) }
mkdirSync(folder, { recursive: true })
writeFileSync(folder + '/index.html', page)
`

/** A project of its own with what the script looks at. */
async function project(t: TestContext) {
  const top = await tempDir(t)
  const put = async (path: string, content: string) => {
    await mkdir(dirname(join(top, path)), { recursive: true })
    await writeFile(join(top, path), content)
  }
  await put('package-lock.json', '{}')
  await put('web/page', 'one')
  await put('node_modules/vite/bin/vite.js', VITE)
  await mkdir(join(top, 'scripts'))
  const script = join(top, 'scripts/ensure-dashboard.mjs')
  await copyFile(join(REPOSITORY, 'scripts/ensure-dashboard.mjs'), script)
  const ensure = () =>
    new Promise<{ said: string; exitCode: number }>((resolve) => {
      const child = execFile(process.execPath, [script], (_error, stdout, stderr) => {
        resolve({ said: stdout + stderr, exitCode: child.exitCode ?? -1 })
      })
    })
  const served = () => readFile(join(top, 'web/dist/index.html'), 'utf8')
  return { top, put, ensure, served }
}

const BUILT = /^tagwarden: dashboard built in \d+\.\d s\n$/

test('the dashboard is built once, and again when a source or a package is another', async (t) => {
  const { put, ensure, served, top } = await project(t)
  assert.match((await ensure()).said, BUILT)
  assert.equal(await served(), 'one')
  assert.deepEqual(await ensure(), { said: '', exitCode: 0 })
  await put('web/page', 'two')
  assert.match((await ensure()).said, BUILT)
  assert.equal(await served(), 'two')
  await put('package-lock.json', '{"name":"other"}')
  assert.match((await ensure()).said, BUILT)
  await put('web/README.md', 'words')
  assert.deepEqual(await ensure(), { said: '', exitCode: 0 })
  assert.deepEqual((await readdir(join(top, 'web'))).sort(), ['README.md', 'dist', 'page'])
})

test('a build that fails says why, and the one before stays', async (t) => {
  const { put, ensure, served, top } = await project(t)
  await ensure()
  await put('web/page', 'wrong')
  const { said, exitCode } = await ensure()
  assert.equal(exitCode, 1)
  assert.match(said, /^tagwarden: the dashboard cannot be built\npage is wrong/)
  assert.equal(await served(), 'one')
  assert.deepEqual((await readdir(join(top, 'web'))).sort(), ['dist', 'page'])
})

test('without the development packages the start goes on, and says what is missing', async (t) => {
  const { ensure, top, put } = await project(t)
  await rm(join(top, 'node_modules/vite'), { recursive: true })
  const missing = 'tagwarden: the dashboard is missing; building it needs npm ci without --omit=dev\n'
  assert.deepEqual(await ensure(), { said: missing, exitCode: 0 })
  await put('web/dist/index.html', 'old')
  assert.match((await ensure()).said, /is older than its sources; building it needs/)
})
