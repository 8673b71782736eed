import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { galleryFaults, git, readMetadata, templateFaults } from '../../scripts/gallery-rules.ts'
import { layOutGallery } from '../../scripts/layout-gallery.ts'
import { tempDir } from '../../testkit/engines.ts'
import { madeOnce } from '../../testkit/made-once.ts'
import { templateText } from './support.ts'

const SCRIPT = join(import.meta.dirname, '../../scripts/layout-gallery.ts')
const ADDRESSES = { homepage: 'https://tagwarden.test', documentation: 'https://tagwarden.test/docs' }

const AUTHOR = { name: 'Ada', email: 'ada@tagwarden.test' }
const ENVIRONMENT = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: AUTHOR.name,
  GIT_AUTHOR_EMAIL: AUTHOR.email,
  GIT_COMMITTER_NAME: AUTHOR.name,
  GIT_COMMITTER_EMAIL: AUTHOR.email,
}

/** By the script, which takes two seconds: for what it prints, and how it ends. */
function layOut(folder: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, folder, ...args], {
    env: ENVIRONMENT,
    encoding: 'utf8',
  })
  return { status, lines: (stdout + stderr).trim().split('\n') }
}

/** A copy of the repository that is laid out. */
async function laidOut(t: TestContext): Promise<string> {
  const folder = join(await tempDir(t), 'gallery')
  await cp(await madeOnce('gallery', writeGallery), folder, { recursive: true })
  return folder
}

async function writeGallery(folder: string): Promise<void> {
  const { homepage, documentation } = ADDRESSES
  const { status, lines } = layOut(folder, '--homepage', homepage, '--documentation', documentation)
  assert.deepEqual({ status, lines }, { status: 0, lines: ['Ready to be pushed'] })
  git(folder, 'config', 'user.name', AUTHOR.name)
  git(folder, 'config', 'user.email', AUTHOR.email)
}

const metadataIn = (folder: string) => readMetadata(readFileSync(join(folder, 'metadata.yaml'), 'utf8'))

test('the gallery repository holds what the gallery reads, and its version names the commit of the template', async (t) => {
  const folder = await laidOut(t)
  const files = readdirSync(folder).filter((file) => file !== '.git')
  assert.deepEqual(files.sort(), ['LICENSE', 'README.md', 'metadata.yaml', 'template.tpl'])
  const { homepage, documentation, versions } = metadataIn(folder)
  assert.deepEqual({ homepage, documentation }, ADDRESSES)
  assert.deepEqual(versions, [{ sha: git(folder, 'rev-parse', 'HEAD~1'), changeNotes: 'Initial release.' }])
  assert.equal(`${git(folder, 'show', `${versions[0]?.sha}:template.tpl`)}\n`, await templateText())
  assert.equal(git(folder, 'branch', '--show-current'), 'main')
})

test('laid out again it changes nothing, and a changed template becomes a version above the others', async (t) => {
  const folder = await laidOut(t)
  const before = git(folder, 'rev-parse', 'HEAD')
  assert.deepEqual(layOutGallery(folder, ADDRESSES), [])
  assert.equal(git(folder, 'rev-parse', 'HEAD'), before)
  // As if the published template were an older one.
  appendFileSync(join(folder, 'template.tpl'), 'an older template\n')
  git(folder, 'commit', '--all', '--message', 'older')
  assert.deepEqual(layOutGallery(folder, ADDRESSES), [])
  const { versions } = metadataIn(folder)
  assert.equal(versions.length, 2)
  assert.equal(versions[0]?.sha, git(folder, 'rev-parse', 'HEAD~1'))
})

test('without real addresses it says which are missing', async (t) => {
  const { status, lines } = layOut(join(await tempDir(t), 'gallery'))
  assert.equal(status, 1)
  assert.deepEqual(lines, [
    'metadata.yaml: homepage is an example; give the real address with --homepage',
    'metadata.yaml: documentation is an example; give the real address with --documentation',
  ])
  assert.match(layOut('a', 'b').lines[0] ?? '', /^Usage: /)
})

test('work that is not committed is left alone', async (t) => {
  const folder = await laidOut(t)
  appendFileSync(join(folder, 'README.md'), 'my own words\n')
  assert.deepEqual(layOutGallery(folder, ADDRESSES), ['there are changes that are not committed'])
  assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /my own words/)
})

/** What goes wrong in a gallery repository: how, and the fault that is named first. */
const FAULTS: readonly [string, (folder: string) => void, RegExp][] = [
  ['a word more in the licence', (f) => appendFileSync(join(f, 'LICENSE'), 'And more.\n'), /^LICENSE has to be/],
  ['a licence in small letters', (f) => renameSync(join(f, 'LICENSE'), join(f, 'license')), /^LICENSE is not comm/],
  ['a second template', (f) => writeFileSync(join(f, 'old.tpl'), ''), /^old\.tpl: a repository holds one template/],
  ['a template that is no version', (f) => appendFileSync(join(f, 'template.tpl'), '\n'), /the latest version is not/],
  ['a placeholder for a commit', (f) => rewrite(f, /sha: \w+/, 'sha: TO_BE_ADDED'), /versions\[0\]\.sha is not a com/],
  ['a commit of elsewhere', (f) => rewrite(f, /sha: \w+/, `sha: ${'a1'.repeat(20)}`), /\.sha is not on this branch/],
  ['no notes', (f) => rewrite(f, /changeNotes: .*/, 'changeNotes: ""'), /versions\[0\] has no changeNotes/],
  ['no version', (f) => rewrite(f, /versions:.*/s, 'versions: []\n'), /versions is empty/],
  ['no mark of the latest', (f) => rewrite(f, / *# Latest version\n/, ''), /"# Latest version" has to stand above/],
  [
    'no secure homepage',
    (f) => rewrite(f, 'https://tagwarden.test\n', 'http://x.test\n'),
    /homepage has to be an https/,
  ],
]

function rewrite(folder: string, from: RegExp | string, to: string): void {
  const path = join(folder, 'metadata.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
}

test('the rules of the gallery are checked', async (t) => {
  const folder = await laidOut(t)
  assert.deepEqual(galleryFaults(folder), [])
  for (const [what, harm, fault] of FAULTS) {
    const sound = git(folder, 'rev-parse', 'HEAD')
    harm(folder)
    git(folder, 'add', '--all')
    git(folder, 'commit', '--message', what)
    assert.match(galleryFaults(folder)[0] ?? 'none', fault, what)
    git(folder, 'reset', '--hard', sound)
  }
  writeFileSync(join(folder, 'notes.txt'), '')
  assert.deepEqual(galleryFaults(folder), ['there are changes that are not committed'])
})

test('a template without the terms, or one that the sandbox would refuse, is not laid out', async () => {
  const text = await templateText()
  assert.deepEqual(templateFaults(text), [])
  const info = text.slice(text.indexOf('___INFO___'))
  assert.match(templateFaults(info)[0] ?? 'none', /does not begin with ___TERMS_OF_SERVICE___/)
  const harmed = text.replace("'Tagwarden: ' + text", '`Tagwarden`')
  assert.match(templateFaults(harmed)[0] ?? 'none', /^template\.tpl:\d+: /)
})
