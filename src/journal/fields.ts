import { type Static, type TSchema, Type } from 'typebox'

/** What senders may count up to: whole numbers that JSON holds exactly. */
export const Counter = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const OptionalCounter = Type.Optional(Counter)

/** Whether something was there, never what it was. */
export const Flag = Type.Optional(Type.Boolean())

/**
 * An object with keys of the sender's own making. `Type.Record` would match keys by a pattern that stops at a line
 * break, and let the value behind such a key go unchecked.
 */
export function mapOf<T extends TSchema>(value: T, options: { description: string; maxProperties?: number }) {
  return Type.Unsafe<Record<string, Static<T>>>(Type.Object({}, { additionalProperties: value, ...options }))
}

/** Parameters of the sender's own in one payload. */
export const OWN_FIELDS_MAX = 20

/** Which of the parameters that a site has named itself were there. */
export const OwnFields = Type.Optional(
  mapOf(Type.Boolean(), {
    maxProperties: OWN_FIELDS_MAX,
    description: 'Parameter of your own → whether it was there, never what was in it',
  }),
)

const OwnFieldCount = Type.Object({ present: Counter, total: Counter })
type OwnFieldCount = Static<typeof OwnFieldCount>

/** What a batch counts of its events. */
export const OwnFieldCounts = Type.Optional(
  mapOf(OwnFieldCount, {
    maxProperties: OWN_FIELDS_MAX,
    description: 'Parameter of your own → events that have it, of the `total` that say whether they do',
  }),
)

/** What an event or a batch says of them: name, present and total in turn. */
type FieldList = [name: string, present: number, total: number][]

export const ownFieldsOf = (fields: Readonly<Record<string, boolean>> = {}): FieldList =>
  Object.entries(fields).map(([name, isThere]) => [name, isThere ? 1 : 0, 1])

/** Those that no event of the batch says anything of count nothing. */
export const ownFieldCountsOf = (fields: Readonly<Record<string, OwnFieldCount>> = {}): FieldList =>
  Object.entries(fields)
    .filter(([, { total }]) => total > 0)
    .map(([name, { present, total }]) => [name, present, total])

/** What is kept of a batch's. */
export const knownFieldCounts = (fields: Readonly<Record<string, OwnFieldCount>>): Record<string, OwnFieldCount> =>
  Object.fromEntries(Object.entries(fields).map(([name, { present, total }]) => [name, { present, total }]))

/** Of which parameter a batch has more than events that could have it; undefined where of none. */
export const excessiveField = (fields: Readonly<Record<string, OwnFieldCount>>): string | undefined =>
  Object.entries(fields).find(([, { present, total }]) => present > total)?.[0]
