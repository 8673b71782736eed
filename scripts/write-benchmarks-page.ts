/** Writes docs/benchmarks.md from the results of the benchmarks. With `--check` it writes nothing and fails when it differs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchmarksPage } from './benchmarks-page.ts'
import { writeGenerated } from './generated-file.ts'

const results = readFileSync(join(import.meta.dirname, '../bench/RESULTS.md'), 'utf8')
writeGenerated('docs/benchmarks.md', benchmarksPage(results), 'bench/RESULTS.md')
