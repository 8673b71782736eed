import type { EventCounts } from '../store/index.ts'

/** How often a field was there, out of `total` events that could have had it. */
export interface Presence {
  present: number
  total: number
  /** 0–1, null without a base. */
  rate: number | null
}

export const presence = (present: number, total: number): Presence => ({ present, total, rate: ratio(present, total) })

/**
 * A fraction from 0 to 1, or null without a base. Rows of batches that were taken before their parts were compared with
 * their whole may hold a part that is larger.
 */
export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : Math.min(1, part / whole))

/** Each user-data field and the counter that is its base: batches do not carry the last four. */
export const USER_DATA_FIELDS = {
  email: 'user_data_total',
  phone: 'user_data_total',
  address: 'user_data_total',
  first_name: 'user_data_detail_total',
  last_name: 'user_data_detail_total',
  city: 'user_data_detail_total',
  country: 'user_data_detail_total',
} as const satisfies Partial<Record<keyof EventCounts, keyof EventCounts>>

export const ECOMMERCE_FIELDS = {
  value: 'ecommerce_total',
  currency: 'ecommerce_total',
  transaction_id: 'ecommerce_total',
  items: 'ecommerce_total',
} as const satisfies Partial<Record<keyof EventCounts, keyof EventCounts>>

export type UserDataField = keyof typeof USER_DATA_FIELDS
export type EcommerceField = keyof typeof ECOMMERCE_FIELDS

export type UserDataPresence = { total: number } & Record<UserDataField, Presence>
export type EcommercePresence = { total: number } & Record<EcommerceField, Presence>

export function userDataPresence(sums: EventCounts): UserDataPresence {
  return { total: sums.user_data_total, ...fieldPresence(USER_DATA_FIELDS, sums) }
}

export function ecommercePresence(sums: EventCounts): EcommercePresence {
  return { total: sums.ecommerce_total, ...fieldPresence(ECOMMERCE_FIELDS, sums) }
}

function fieldPresence<F extends keyof EventCounts>(
  fields: Readonly<Record<F, keyof EventCounts>>,
  sums: EventCounts,
): Record<F, Presence> {
  const names = Object.keys(fields) as F[]
  return Object.fromEntries(names.map((field) => [field, presence(sums[field], sums[fields[field]])])) as Record<
    F,
    Presence
  >
}
