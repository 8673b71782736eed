/**
 * Writes docs/configuration.md and .env.example from the settings table. With `--check` it writes nothing and fails when
 * one of them is not what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationPage, environmentExample } from './config-docs.ts'

const repository = join(import.meta.dirname, '..')
const check = process.argv.includes('--check')

for (const [path, content] of [
  ['docs/configuration.md', configurationPage()],
  ['.env.example', environmentExample()],
] as const) {
  const file = join(repository, path)
  if (!check) writeFileSync(file, content)
  else if (readText(file) !== content) {
    console.error(`${path} differs from the settings in src/config.ts: run \`npm run docs\``)
    process.exitCode = 1
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
