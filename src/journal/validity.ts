import { type Static, Type } from 'typebox'
import { bitOf, type Counts, SIGNAL } from './delta.ts'
import { Flag, OptionalCounter } from './fields.ts'

export const VALIDITY_FIELDS = [
  'value_zero',
  'value_invalid',
  'currency_invalid',
  'transaction_duplicate',
  'items_empty',
] as const

/** Whether what is there can be used, as a sender saw it: never what it is. */
export const Validity = Type.Object({
  value_zero: Flag,
  value_invalid: Flag,
  currency_invalid: Flag,
  transaction_duplicate: Flag,
  items_empty: Flag,
})
export type Validity = Static<typeof Validity>

/** What a batch counts of its events; `validity_total` are those that were looked at. */
export const ValidityCounts = Type.Object({
  validity_total: OptionalCounter,
  value_zero: OptionalCounter,
  value_invalid: OptionalCounter,
  currency_invalid: OptionalCounter,
  transaction_duplicate: OptionalCounter,
  items_empty: OptionalCounter,
})
export type ValidityCounts = Static<typeof ValidityCounts>

/** What an event says, as a mask; 0 where it says nothing. */
export function validityMask(flags: Validity | undefined): number {
  if (flags === undefined) return 0
  const { value_zero, value_invalid, currency_invalid, transaction_duplicate, items_empty } = flags
  if ((value_zero ?? value_invalid ?? currency_invalid ?? transaction_duplicate ?? items_empty) === undefined) return 0
  return (
    bitOf(SIGNAL.validity_total) |
    (value_zero === true ? bitOf(SIGNAL.value_zero) : 0) |
    (value_invalid === true ? bitOf(SIGNAL.value_invalid) : 0) |
    (currency_invalid === true ? bitOf(SIGNAL.currency_invalid) : 0) |
    (transaction_duplicate === true ? bitOf(SIGNAL.transaction_duplicate) : 0) |
    (items_empty === true ? bitOf(SIGNAL.items_empty) : 0)
  )
}

/** Adds what a batch says. */
export function addValidityCounts(counts: Counts, given: ValidityCounts): void {
  counts[SIGNAL.validity_total] = given.validity_total ?? 0
  for (const field of VALIDITY_FIELDS) counts[SIGNAL[field]] = given[field] ?? 0
}

/** Where such counts say that there is more of a part than of the whole: its name; undefined where they do not. */
export const excessiveValidity = (counts: ValidityCounts): keyof ValidityCounts | undefined =>
  VALIDITY_FIELDS.find((field) => (counts[field] ?? 0) > (counts.validity_total ?? 0))
