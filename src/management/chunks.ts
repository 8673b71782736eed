/** Rows in one INSERT: with 7 columns far below what the engines take (SQLite 32,766 parameters, PostgreSQL 65,535). */
const ROWS_PER_INSERT = 500

/** Cuts rows into parts that fit one INSERT each. */
export function insertChunks<T>(rows: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    chunks.push(rows.slice(start, start + ROWS_PER_INSERT))
  }
  return chunks
}
