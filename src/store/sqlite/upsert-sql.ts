import { columnsOf, type UpsertSpec } from '../upsert.ts'

const textBySpec = new Map<string, string>()

/** The prepared statement's text that writes one row of `spec`. */
export function upsertSql(spec: UpsertSpec): string {
  const known = textBySpec.get(spec.table)
  if (known !== undefined) return known
  const columns = columnsOf(spec)
  const updates = [
    ...spec.sums.map((column) => `${column} = ${column} + excluded.${column}`),
    ...spec.maxima.map((column) => `${column} = max(${column}, excluded.${column})`),
  ]
  const action = updates.length === 0 ? 'do nothing' : `do update set ${updates.join(', ')}`
  const text =
    `insert into ${spec.table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')}) ` +
    `on conflict (${spec.keys.join(', ')}) ${action}`
  textBySpec.set(spec.table, text)
  return text
}
