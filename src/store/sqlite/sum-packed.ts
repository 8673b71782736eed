import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { PackedSums, SUM_PACKED } from '../packed.ts'

/** Defines `sum_packed(names, text)` on a connection: the sum of packed counts, packed again. */
export function defineSumPacked(db: DatabaseSync): void {
  db.aggregate(SUM_PACKED, {
    deterministic: true,
    directOnly: true,
    start: 0,
    step: (state, names, text) => {
      const sums = isSums(state) ? state : new PackedSums(Number(names))
      sums.add(String(text))
      // Node keeps any value as the state; its types allow only those that SQLite knows.
      return sums as unknown as SQLInputValue
    },
    result: (state) => (isSums(state) ? state.toText() : '[]'),
  })
}

const isSums = (state: unknown): state is PackedSums => state instanceof PackedSums
