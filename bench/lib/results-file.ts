import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machineLine } from './machine.ts'

const RESULTS_FILE = join(import.meta.dirname, '..', 'RESULTS.md')
const INTRODUCTION = `# Results

Written by the benchmarks with \`--write\`, newest first. A figure counts only beside the bare server's of the same run:
see \`README.md\` here for how to run and how to read.
`

/** What a run says of itself, above its tables. */
export function runHeader(title: string, settings: string, notes: readonly string[]): string {
  const lines = [`${machineLine()}. ${settings}`, ...notes]
  return `## ${title}, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC\n\n${lines.join('\n')}`
}

/** Puts the run in front of the earlier ones in `bench/RESULTS.md`. */
export function writeResults(header: string, text: string): void {
  const before = existsSync(RESULTS_FILE) ? readFileSync(RESULTS_FILE, 'utf8') : INTRODUCTION
  const firstRun = before.indexOf('\n## ')
  const introduction = firstRun === -1 ? before.trimEnd() : before.slice(0, firstRun).trimEnd()
  const earlier = firstRun === -1 ? '' : `\n${before.slice(firstRun + 1).trimEnd()}\n`
  writeFileSync(RESULTS_FILE, `${introduction}\n\n${header}\n\n${text}\n${earlier}`)
}
