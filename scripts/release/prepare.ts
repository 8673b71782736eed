/**
 * Prepares a release: writes its version everywhere, adds its heading to the changelog, freezes the migrations, and regenerates files.
 * Changes files, but does not commit.
 *
 *     node scripts/release/prepare.ts 0.2.0      (npm run release:prepare -- 0.2.0)
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { release } from './changelog.ts'
import { versionOf } from './checks.ts'
import { freeze } from './frozen-migrations.ts'
import { compareVersions, setVersion } from './versions.ts'

/** @param date of the release, `2026-12-01` @throws Error before any change, when it cannot be released */
export function prepare(root: string, version: string, date: string): void {
  const before = versionOf(root)
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is no version like 0.2.0`)
  if (compareVersions(version, before) <= 0) throw new Error(`${version} is not newer than ${before}`)
  const path = join(root, 'CHANGELOG.md')
  const changelog = release(readFileSync(path, 'utf8'), version, date)
  writeFileSync(path, changelog)
  setVersion(root, version)
  freeze(root, version)
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..')
  const [version] = process.argv.slice(2)
  if (version === undefined) {
    console.error('Usage: npm run release:prepare -- 0.2.0')
    process.exit(1)
  }
  try {
    prepare(root, version, new Date().toISOString().slice(0, 10))
  } catch (thrown) {
    console.error(`tagwarden: ${thrown instanceof Error ? thrown.message : thrown}`)
    process.exit(1)
  }
  execFileSync('npm', ['run', '--silent', 'docs'], { cwd: root, stdio: 'inherit' })
  console.log(`This is ${version} now. Look at the changes, then: npm run release:check`)
}
