import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const repository = join(import.meta.dirname, '..')
const check = process.argv.includes('--check')

/**
 * Writes a generated file. With `--check` it writes nothing, and the process fails when the file differs from what it would write.
 *
 * @param path from the top of the repository
 * @param source what the content is generated from, for the message
 */
export function writeGenerated(path: string, content: string, source: string): void {
  const file = join(repository, path)
  if (!check) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  } else if (readText(file) !== content) {
    console.error(`${path} differs from ${source}: run \`npm run docs\``)
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
