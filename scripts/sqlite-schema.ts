import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { migrate, openSqliteStore } from '../src/store/index.ts'

const HEAD = `-- Written by \`npm run docs\` from a freshly migrated database; change it by a migration.
`

/** The SQL schema after every migration: tables first, then indexes, each by name. */
export async function sqliteSchema(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tagwarden-schema-'))
  try {
    const store = await openSqliteStore(dataDir)
    try {
      await migrate(store.write, store.columnTypes)
      // Entries without SQL or with SQLite's own names are created with the tables.
      const { rows } = await sql<{ sql: string }>`
        select sql from sqlite_schema
        where sql is not null and name not like 'sqlite\\_%' escape '\\'
        order by type desc, name`.execute(store.write)
      return [HEAD, ...rows.map((row) => `${normalised(row.sql)};\n`)].join('\n')
    } finally {
      await store.close()
    }
  } finally {
    await rm(dataDir, { recursive: true })
  }
}

/** The statement with normalised indentation, one column per line. */
function normalised(statement: string): string {
  const lines = statement.split('\n').map((line) => line.trim())
  return lines.map((line, index) => (index === 0 || line.startsWith(')') ? line : `  ${line}`)).join('\n')
}
