/**
 * Writes the JSON Schemas of the ingest format, for authors of senders, and of configuration files, for editors. With `--check` it writes
 * nothing, and fails when a committed schema differs from the program's.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { contractSchema, schemaText } from './contract-schema.ts'
import { writeGenerated } from './generated-file.ts'

writeGenerated('contract/ingest.schema.json', contractSchema(), 'the schemas in src/journal/payload.ts')

const program = join(import.meta.dirname, '../bin/tagwarden.mjs')
const printed = execFileSync(process.execPath, [program, 'export', '--schema'], { encoding: 'utf8' })
writeGenerated('contract/config.schema.json', schemaText(JSON.parse(printed)), '`tagwarden export --schema`')
