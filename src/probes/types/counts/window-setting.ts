import { Type } from 'typebox'

/** The setting for how much of the newest counts is judged; they are read in slots of five minutes. */
export const windowMinutes = (byDefault: number) =>
  Type.Integer({
    minimum: 5,
    maximum: 1_440,
    multipleOf: 5,
    default: byDefault,
    description: 'Minutes that are judged together, in steps of 5',
  })
