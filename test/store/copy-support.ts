import { sql } from 'kysely'
import type { SqlValue, Store } from '../../src/store/index.ts'

/** Sorted in three ways by SQLite, JavaScript and PostgreSQL; all of what array literals and patterns could stumble over. */
const TEXTS = ['plain', 'Ünï', '', '😀', '\uffff', '{"a",b}', "it's \\ back", 'NULL', 'line\nbreak\t', 'Zeta', 'alpha']

/** What speaks of the processes on the old store. */
export const NOT_COPIED: readonly string[] = [
  'client_demand',
  'clock_checks',
  'leases',
  'listening',
  'nodes',
  'write_checks',
]

/** The tables that Tagwarden made, as the database itself lists them. */
export async function tableNames(store: Store): Promise<string[]> {
  const tables = await store.read.introspection.getTables()
  return tables.map(({ name }) => name).filter((name) => name !== 'sqlite_sequence')
}

/** Puts rows into every table of an embedded store. Rows of the same number refer to each other. */
export async function fillEveryTable(store: Store, rowsPerTable: number): Promise<void> {
  const tables = await store.read.introspection.getTables()
  await store.write.transaction().execute(async (trx) => {
    await sql`pragma defer_foreign_keys = on`.execute(trx)
    for (const { name, columns } of tables.filter((table) => table.name !== 'sqlite_sequence')) {
      const names = sql.join(columns.map((column) => sql.id(column.name)))
      for (let row = 1; row <= rowsPerTable; row++) {
        const values = columns.map((column) => {
          if (column.dataType.toLowerCase() !== 'text') return sql`${1_000 * row}`
          const isPacked = name === 'minute_parts' && column.name !== 'container_id'
          return sql`${isPacked ? JSON.stringify([[text(row), row]]) : text(row)}`
        })
        await sql`insert into ${sql.table(name)} (${names}) values (${sql.join(values)})`.execute(trx)
      }
    }
  })
}

const text = (row: number): string => `${TEXTS[row % TEXTS.length]}${row}`

/** Every row of a table, in an order that both engines share. */
export async function rowsOf(store: Store, table: string): Promise<string[]> {
  const { rows } = await sql<Record<string, SqlValue>>`select * from ${sql.table(table)}`.execute(store.read)
  // PostgreSQL's driver reads JSON, which SQLite has as text.
  const asText = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)
  const entries = (row: Record<string, SqlValue>) => Object.entries(row).map(([name, value]) => [name, asText(value)])
  return rows.map((row) => JSON.stringify(entries(row).sort())).sort()
}
