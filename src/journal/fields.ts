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
