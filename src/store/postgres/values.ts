import pg from 'pg'
import type { SqlValue } from '../upsert.ts'

const { INT8, NUMERIC } = pg.types.builtins

/**
 * Whole and decimal numbers come back as JavaScript numbers: every one the program stores is below 2^53, and counts of rows
 * are too. (The driver's own way, a text, is for those that are not.)
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') =>
    id === INT8 || id === NUMERIC ? Number : pg.types.getTypeParser(id, format)) as typeof pg.types.getTypeParser,
}

/**
 * PostgreSQL's text holds neither the character NUL nor half a surrogate pair: both become the replacement character, in what
 * is written and in what is asked for.
 */
export function storableValue<T>(value: T): T | string {
  if (typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) return value
  return value.replaceAll('\0', '\ufffd').toWellFormed()
}

/** Values as PostgreSQL's array literal, for columns of numbers. */
export const numbersLiteral = (values: readonly SqlValue[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`
