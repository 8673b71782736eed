import { columnsOf, type UpsertSpec } from '../upsert.ts'

/**
 * One statement that writes any number of rows: an array for each column.
 *
 * @param types PostgreSQL's name of each column's type, in the order of `columnsOf(spec)`
 */
export function upsertSql(spec: UpsertSpec, types: readonly string[]): string {
  const columns = columnsOf(spec)
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`)
  return (
    `insert into ${spec.table} (${columns.join(', ')}) select * from unnest(${arrays.join(', ')}) ` +
    `on conflict (${spec.keys.join(', ')}) do update set ${updates(spec).join(', ')}`
  )
}

function updates({ table, keys, sums, maxima }: UpsertSpec): string[] {
  if (sums.length + maxima.length === 0) {
    // Changes nothing, but locks the row until the transaction ends; `do nothing` would not. The last key, because Citus forbids
    // setting the column that a table is distributed by.
    const [key = ''] = keys.slice(-1)
    return [`${key} = excluded.${key}`]
  }
  return [
    ...sums.map((column) => `${column} = ${table}.${column} + excluded.${column}`),
    ...maxima.map((column) => `${column} = greatest(${table}.${column}, excluded.${column})`),
  ]
}
