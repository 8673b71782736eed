import { type Static, Type } from 'typebox'
import { type Counts, SIGNAL } from './delta.ts'
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

export const saysValidity = (flags: Validity): boolean => VALIDITY_FIELDS.some((field) => flags[field] !== undefined)

/** Adds what an event says. */
export function addValidity(counts: Counts, flags: Validity): void {
  counts[SIGNAL.validity_total] = 1
  for (const field of VALIDITY_FIELDS) if (flags[field] === true) counts[SIGNAL[field]] = 1
}

/** Adds what a batch says. */
export function addValidityCounts(counts: Counts, given: ValidityCounts): void {
  counts[SIGNAL.validity_total] = given.validity_total ?? 0
  for (const field of VALIDITY_FIELDS) counts[SIGNAL[field]] = given[field] ?? 0
}

/** Where such counts say that there is more of a part than of the whole: its name; undefined where they do not. */
export const excessiveValidity = (counts: ValidityCounts): keyof ValidityCounts | undefined =>
  VALIDITY_FIELDS.find((field) => (counts[field] ?? 0) > (counts.validity_total ?? 0))
