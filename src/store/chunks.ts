/** Far below what the engines take in one statement (SQLite 32,766 parameters, PostgreSQL 65,535). */
const ITEMS_PER_STATEMENT = 500

/** Cuts a list into parts that fit one statement each. */
export function chunksOf<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < items.length; start += ITEMS_PER_STATEMENT) {
    chunks.push(items.slice(start, start + ITEMS_PER_STATEMENT))
  }
  return chunks
}
