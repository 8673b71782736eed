import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sectionOf } from './changelog.ts'
import { changedSince, frozenIn, unreleased } from './frozen-migrations.ts'
import { compareVersions, mentionsIn } from './versions.ts'

/** One condition for a release; `problems` is empty, or sentences that say what to do. */
export interface Check {
  title: string
  problems: string[]
}

export const versionOf = (root: string): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version

/**
 * Checks the files of the repository at `root` for a release.
 *
 * @param tag to release, such as `v0.2.0`; null before there is one
 */
export function checkFiles(root: string, tag: string | null): Check[] {
  const version = versionOf(root)
  return [
    { title: `one version everywhere: ${version}`, problems: otherVersions(root, version) },
    {
      title: 'the tag is the version',
      problems: tag === null || tag === `v${version}` ? [] : [`the tag ${tag} is not v${version}`],
    },
    { title: 'the changelog says what it brings', problems: changelogProblems(root, version) },
    { title: 'released migrations are as they were', problems: changedSince(root) },
    { title: 'its migrations are frozen', problems: notFrozen(root, version) },
    { title: 'there is a store of each release before, to upgrade from', problems: missingStores(root, version) },
  ]
}

function otherVersions(root: string, version: string): string[] {
  return mentionsIn(root)
    .filter((mention) => mention.version !== version)
    .map(({ file, line, version: other }) => `${file}:${line} says ${other}`)
}

function changelogProblems(root: string, version: string): string[] {
  const section = sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (section === null) {
    return [`CHANGELOG.md has no heading "## [${version}] - DATE": npm run release:prepare -- NEXT-VERSION writes it`]
  }
  return section.body === '' ? [`CHANGELOG.md says nothing about ${version}`] : []
}

function notFrozen(root: string, version: string): string[] {
  const left = unreleased(root)
  if (left.length === 0) return []
  return [
    `${left.join(', ')} would be released with ${version} and can still change: npm run release:prepare freezes them`,
  ]
}

function missingStores(root: string, version: string): string[] {
  const released = new Set(frozenIn(root).map((frozen) => frozen.version))
  return [...released]
    .filter((other) => compareVersions(other, version) < 0)
    .filter((other) => !existsSync(join(root, 'test/upgrade/fixtures', other, 'tagwarden.db.br')))
    .map((other) => `no store of ${other}: node scripts/make-upgrade-fixture.ts ${other} v${other}`)
}
