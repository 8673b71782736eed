/**
 * Prints the changelog section of a version, for the release's page.
 *
 *     node scripts/release/notes.ts 0.2.0
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sectionOf } from './changelog.ts'

const [version = ''] = process.argv.slice(2)
const section = sectionOf(readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8'), version)
if (section === null) {
  console.error(`CHANGELOG.md has no heading for ${version || 'no version'}`)
  process.exit(1)
}
console.log(section.body)
