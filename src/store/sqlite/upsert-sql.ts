import { columnsOf, type UpsertSpec } from '../upsert.ts'

const textByColumns = new Map<string, string>()

/** The prepared statement's text that writes one row of `spec`. */
export function upsertSql(spec: UpsertSpec): string {
  const columns = columnsOf(spec)
  const key = `${spec.table} ${columns.join()}`
  const known = textByColumns.get(key)
  if (known !== undefined) return known
  const updates = [
    ...spec.sums.map((column) => `${column} = ${column} + excluded.${column}`),
    ...spec.maxima.map((column) => `${column} = max(${column}, excluded.${column})`),
  ]
  const action = updates.length === 0 ? 'do nothing' : `do update set ${updates.join(', ')}`
  const text =
    `insert into ${spec.table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')}) ` +
    `on conflict (${spec.keys.join(', ')}) ${action}`
  textByColumns.set(key, text)
  return text
}
