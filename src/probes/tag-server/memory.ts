import type { Json, JsonObject } from '../probe-type.ts'

export type { Json, JsonObject }

/** An object that a run left behind, `{}` for anything else: another version of the program may have written it. */
export const objectIn = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
