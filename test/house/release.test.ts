import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { release, sectionOf } from '../../scripts/release/changelog.ts'
import { checkFiles, versionOf } from '../../scripts/release/checks.ts'
import { changedSince } from '../../scripts/release/frozen-migrations.ts'
import { prepare } from '../../scripts/release/prepare.ts'
import { compareVersions, mentionsIn } from '../../scripts/release/versions.ts'
import { tempDir } from '../../testkit/engines.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const MIGRATIONS = 'src/store/migrations'
/** What a release looks at. */
const FILES = [
  'package.json',
  'package-lock.json',
  'README.md',
  'CHANGELOG.md',
  'compose.yaml',
  'docs',
  'deploy',
  MIGRATIONS,
  'test/upgrade',
]
const NEXT = '99.0.0'
const DATE = '2026-12-01'

/** The repository's files, to be changed. */
async function copyOfRepository(t: TestContext): Promise<string> {
  const root = await tempDir(t)
  for (const path of FILES) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    cpSync(join(REPOSITORY, path), join(root, path), { recursive: true, filter: (file) => !file.endsWith('.png') })
  }
  return root
}

function edit(root: string, path: string, change: (text: string) => string): void {
  const before = readFileSync(join(root, path), 'utf8')
  const after = change(before)
  assert.notEqual(after, before, `${path} stays as it was`)
  writeFileSync(join(root, path), after)
}

const problemsOf = (root: string, tag: string | null = null) =>
  checkFiles(root, tag).flatMap(({ problems }) => problems)

test('all places that say the version say the same', () => {
  const mentions = mentionsIn(REPOSITORY)
  for (const file of [
    'package.json',
    'package-lock.json',
    'deploy/helm/tagwarden/Chart.yaml',
    'README.md',
    'docs/deploy.md',
  ]) {
    assert.ok(
      mentions.some((mention) => mention.file === file),
      file,
    )
  }
  assert.equal(mentions.filter(({ file }) => file === 'package-lock.json').length, 2)
  assert.equal(mentions.filter(({ file }) => file.endsWith('Chart.yaml')).length, 2)
  const version = versionOf(REPOSITORY)
  assert.deepEqual(
    mentions.filter((mention) => mention.version !== version),
    [],
  )
})

test('migrations that were released are as they were', () => {
  assert.deepEqual(changedSince(REPOSITORY), [])
})

test('what is prepared can be released', async (t) => {
  const root = await copyOfRepository(t)
  prepare(root, NEXT, DATE)
  assert.deepEqual(problemsOf(root, `v${NEXT}`), [])
  assert.equal(versionOf(root), NEXT)
  assert.match(
    readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    /^## \[Unreleased\]\n\n## \[99\.0\.0\] - 2026-12-01\n/m,
  )
})

test('what is not prepared says what to do', () => {
  const version = versionOf(REPOSITORY)
  if (sectionOf(readFileSync(join(REPOSITORY, 'CHANGELOG.md'), 'utf8'), version) !== null) return
  assert.match(problemsOf(REPOSITORY).join('\n'), /has no heading .*: npm run release:prepare -- NEXT-VERSION/)
})

const FAULTS: readonly [what: string, breakIt: (root: string) => void, problem: RegExp][] = [
  [
    'a place that says another version',
    (root) =>
      edit(root, 'deploy/helm/tagwarden/Chart.yaml', (text) => text.replace('appVersion: "99', 'appVersion: "98')),
    /^deploy\/helm\/tagwarden\/Chart\.yaml:\d+ says 98\.0\.0$/,
  ],
  [
    'a changelog without its heading',
    (root) => edit(root, 'CHANGELOG.md', (text) => text.replace(`## [${NEXT}]`, '## [98.0.0]')),
    /^CHANGELOG\.md has no heading "## \[99\.0\.0\] - DATE"/,
  ],
  [
    'a released migration that was changed',
    (root) => edit(root, `${MIGRATIONS}/0001-foundation.ts`, (text) => `${text}\n`),
    /^0001-foundation\.ts differs from that of 0\.1\.0: /,
  ],
  [
    'a released migration that is gone',
    (root) => rmSync(join(root, MIGRATIONS, '0003-probes.ts')),
    /^0003-probes\.ts is gone, which 0\.1\.0 has taken$/,
  ],
  [
    'a migration between those that were released',
    (root) => writeFileSync(join(root, MIGRATIONS, '0003-quite.ts'), ''),
    /^0003-quite\.ts comes before /,
  ],
  [
    'a migration that came after it was prepared',
    (root) => writeFileSync(join(root, MIGRATIONS, '9999-last.ts'), ''),
    /^9999-last\.ts would be released with 99\.0\.0 and can still change/,
  ],
  [
    'a release before it without a store to upgrade',
    (root) => rmSync(join(root, 'test/upgrade/fixtures/0.1.0'), { recursive: true }),
    /^no store of 0\.1\.0: node scripts\/make-upgrade-fixture\.ts 0\.1\.0 v0\.1\.0$/,
  ],
]

test('a release is held up by', async (t) => {
  for (const [what, breakIt, problem] of FAULTS) {
    await t.test(what, async (t) => {
      const root = await copyOfRepository(t)
      prepare(root, NEXT, DATE)
      breakIt(root)
      const problems = problemsOf(root)
      assert.ok(
        problems.some((one) => problem.test(one)),
        problems.join('\n'),
      )
    })
  }
  await t.test('a tag of another version', async (t) => {
    const root = await copyOfRepository(t)
    prepare(root, NEXT, DATE)
    assert.deepEqual(problemsOf(root, 'v98.0.0'), ['the tag v98.0.0 is not v99.0.0'])
  })
})

test('a version that is none, or not newer, is refused before anything is changed', async (t) => {
  const root = await copyOfRepository(t)
  for (const version of ['1.0', 'v99.0.0', '0.0.1', versionOf(root)]) {
    assert.throws(() => prepare(root, version, DATE), /is no version|is not newer/)
  }
  assert.equal(versionOf(root), versionOf(REPOSITORY))
})

const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- This.\n\n## [0.1.0] - 2026-01-01\n\n- That.\n'

test('a release takes what is unreleased, and leaves what was released', () => {
  const after = release(CHANGELOG, '0.2.0', DATE)
  assert.deepEqual(sectionOf(after, '0.2.0'), { date: DATE, body: '### Added\n\n- This.' })
  assert.deepEqual(sectionOf(after, '0.1.0'), { date: '2026-01-01', body: '- That.' })
  assert.equal(sectionOf(after, '0.3.0'), null)
})

test('nothing is released twice, or for nothing', () => {
  assert.throws(() => release(CHANGELOG, '0.1.0', DATE), /has a heading for 0\.1\.0 already/)
  assert.throws(() => release(release(CHANGELOG, '0.2.0', DATE), '0.3.0', DATE), /nothing is unreleased/)
  assert.throws(() => release('# Changelog\n', '0.2.0', DATE), /needs one heading/)
})

test('versions are compared by their numbers', () => {
  assert.ok(compareVersions('0.9.0', '0.10.0') < 0)
  assert.ok(compareVersions('1.0.0', '0.99.99') > 0)
  assert.equal(compareVersions('1.2.3', '1.2.3'), 0)
})
