import { Type } from 'typebox'

/** Fields that several tools take. */

const DEFAULT_ROWS = 50
const MOST_ROWS = 200

export const id = (description: string) => Type.String({ format: 'uuid', description })
export const optionalId = (description: string) => Type.Optional(id(description))
export const time = (description: string) => Type.String({ format: 'date-time', description })
export const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MOST_ROWS, description: `Entries at most; ${DEFAULT_ROWS} by default` }),
)
export const rowsOf = (asked: number | undefined): number => asked ?? DEFAULT_ROWS
export const before = Type.Optional(
  Type.String({ maxLength: 40, description: 'Only older entries: `next_before` of the answer before' }),
)
export const closed = { additionalProperties: false } as const
