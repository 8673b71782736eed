import { Type } from 'typebox'

/** What senders may count up to: whole numbers that JSON holds exactly. */
export const Counter = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const OptionalCounter = Type.Optional(Counter)

/** Whether something was there, never what it was. */
export const Flag = Type.Optional(Type.Boolean())
