import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { PackedSums, SUM_PACKED } from '../packed.ts'

/** Defines `sum_packed(names, text)` on a connection: the sum of packed counts, packed again. */
export function defineSumPacked(db: DatabaseSync): void {
  db.aggregate(SUM_PACKED, {
    deterministic: true,
    directOnly: true,
    start: '',
    step: (state, names, text) => {
      // Most minutes have one part, which a reader that tells minutes apart gets as it is.
      if (state === '') return String(text)
      const sums = isSums(state) ? state : sumsOf(Number(names), String(state))
      sums.add(String(text))
      // Node keeps any value as the state; its types allow only those that SQLite knows.
      return sums as unknown as SQLInputValue
    },
    result: (state) => (isSums(state) ? state.toText() : state),
  })
}

const isSums = (state: unknown): state is PackedSums => state instanceof PackedSums

function sumsOf(names: number, text: string): PackedSums {
  const sums = new PackedSums(names)
  sums.add(text)
  return sums
}
