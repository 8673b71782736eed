/** Fails when a relative link in one of the Markdown files leads nowhere. */
import { join } from 'node:path'
import { brokenLinks } from './doc-links.ts'

for (const { file, line, target, problem } of brokenLinks(join(import.meta.dirname, '..'))) {
  console.error(`${file}:${line} links to ${target}: ${problem}`)
  process.exitCode = 1
}
