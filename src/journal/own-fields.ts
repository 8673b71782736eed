import { type Static, Type } from 'typebox'
import { Counter, mapOf } from './fields.ts'

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
export type FieldList = [name: string, present: number, total: number][]

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
