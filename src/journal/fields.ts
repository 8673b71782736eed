import { type Static, type TSchema, Type } from 'typebox'

/** A count that a sender may report: JSON holds whole numbers exactly up to this one. */
export const Counter = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const OptionalCounter = Type.Optional(Counter)

/** Whether something was there, never what it was. */
export const Flag = Type.Optional(Type.Boolean())

/**
 * An object whose keys the sender chooses. `Type.Record` matches keys with a pattern that stops at a line break, so the value
 * behind such a key would go unchecked.
 */
export function mapOf<T extends TSchema>(value: T, options: { description: string; maxProperties?: number }) {
  return Type.Unsafe<Record<string, Static<T>>>(Type.Object({}, { additionalProperties: value, ...options }))
}

/** Own parameters in one payload. */
export const OWN_FIELDS_MAX = 20

/** Which of the site's own parameters were present. */
export const OwnFields = Type.Optional(
  mapOf(Type.Boolean(), {
    maxProperties: OWN_FIELDS_MAX,
    description: 'Custom parameter → whether it was present; its value is never sent',
  }),
)

const OwnFieldCount = Type.Object({ present: Counter, total: Counter })
type OwnFieldCount = Static<typeof OwnFieldCount>

/** A batch's counts of own parameters. */
export const OwnFieldCounts = Type.Optional(
  mapOf(OwnFieldCount, {
    maxProperties: OWN_FIELDS_MAX,
    description: 'Custom parameter → events that have it, among the `total` that report whether they do',
  }),
)

/** What an event or a batch reports about own parameters. */
type FieldList = [name: string, present: number, total: number][]

export const ownFieldsOf = (fields: Readonly<Record<string, boolean>> = {}): FieldList =>
  Object.entries(fields).map(([name, isThere]) => [name, isThere ? 1 : 0, 1])

/** Leaves out parameters on which no event of the batch reported anything. */
export const ownFieldCountsOf = (fields: Readonly<Record<string, OwnFieldCount>> = {}): FieldList =>
  Object.entries(fields)
    .filter(([, { total }]) => total > 0)
    .map(([name, { present, total }]) => [name, present, total])

/** The counts without unknown fields. */
export const knownFieldCounts = (fields: Readonly<Record<string, OwnFieldCount>>): Record<string, OwnFieldCount> =>
  Object.fromEntries(Object.entries(fields).map(([name, { present, total }]) => [name, { present, total }]))

/** The first parameter with more events that have it than events that report on it, or undefined. */
export const excessiveField = (fields: Readonly<Record<string, OwnFieldCount>>): string | undefined =>
  Object.entries(fields).find(([, { present, total }]) => present > total)?.[0]
