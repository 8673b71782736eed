import { type Static, type TObject, Type } from 'typebox'
import { isObject } from '../lib/index.ts'
import type { Ask } from './ask.ts'

export interface ToolContext {
  ask: Ask
  /** Epoch ms. */
  now: number
}

/** A tool that an assistant can call. */
export interface Tool {
  name: string
  title: string
  /** For the assistant: when to call it, and what it answers. */
  description: string
  input: TObject
  isReadOnly: boolean
  /** Whether a second, equal call changes nothing more. */
  isIdempotent: boolean
  /** @throws RefusedCall when the API refuses a call */
  run: (input: unknown, context: ToolContext) => Promise<Record<string, unknown>>
}

interface Definition<Input extends TObject> extends Omit<Tool, 'input' | 'run' | 'isReadOnly' | 'isIdempotent'> {
  input: Input
  run: (input: Static<Input>, context: ToolContext) => Promise<Record<string, unknown>>
}

/** Makes a tool that only reads. Its input is checked against the schema before `run` is called. */
export const reading = <Input extends TObject>(tool: Definition<Input>): Tool => ({
  ...tool,
  isReadOnly: true,
  isIdempotent: true,
  run: (input, context) => tool.run(input as Static<Input>, context),
})

export const changing = <Input extends TObject>(tool: Definition<Input> & Pick<Tool, 'isIdempotent'>): Tool => ({
  ...reading(tool),
  isReadOnly: false,
  isIdempotent: tool.isIdempotent,
})

export type Entry = Readonly<Record<string, unknown>>

/** The objects of a list. */
export const entriesOf = (value: unknown): Entry[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Returns the fields of a record that an assistant needs. */
export const pick = (record: unknown, names: readonly string[]): Record<string, unknown> => {
  const fields: Entry = isObject(record) ? record : {}
  return Object.fromEntries(names.filter((name) => name in fields).map((name) => [name, fields[name]]))
}

export const pickAll = (list: unknown, names: readonly string[]): Record<string, unknown>[] =>
  entriesOf(list).map((entry) => pick(entry, names))

/**
 * Returns a page of a list that the API pages.
 *
 * @param list reads its newest `count` entries: one more than the page holds, which shows whether there are older ones
 */
export async function pageOf(list: (count: number) => Promise<unknown>, names: readonly string[], rows: number) {
  const found = entriesOf(await list(rows + 1))
  const entries = found.slice(0, rows)
  return {
    entries: pickAll(entries, names),
    next_before: found.length > rows ? (entries.at(-1)?.id ?? null) : null,
  }
}

/** Returns a part of a list that the API returns as a whole. */
export function partOf(list: unknown, names: readonly string[], from: number, rows: number) {
  const all = entriesOf(list)
  const end = from + rows
  return {
    total: all.length,
    entries: pickAll(all.slice(from, end), names),
    next_offset: end < all.length ? end : null,
  }
}

/** Returns at most `most` entries of each list, the last ones of lists in `last`, and how many were left out. */
export function partsOf(most: number, lists: Lists, last: Lists = {}) {
  const all = Object.entries({ ...lists, ...last })
  const over = all.flatMap(([name, list]): [string, number][] =>
    list.length > most ? [[name, list.length - most]] : [],
  )
  return {
    ...Object.fromEntries(all.map(([name, list]) => [name, name in last ? list.slice(-most) : list.slice(0, most)])),
    left_out: Object.fromEntries(over),
  }
}

type Lists = Readonly<Record<string, readonly unknown[]>>

/** Returns a count; 0 when the field is not a number. */
export const countOf = (record: Entry | undefined, name: string): number => {
  const value = record?.[name]
  return typeof value === 'number' ? value : 0
}

/** Fields that several tools take. */

const DEFAULT_ROWS = 50
const MOST_ROWS = 200

export const id = (description: string) => Type.String({ format: 'uuid', description })
export const optionalId = (description: string) => Type.Optional(id(description))
export const time = (description: string) => Type.String({ format: 'date-time', description })
export const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: MOST_ROWS,
    description: `Maximum number of entries; ${DEFAULT_ROWS} by default`,
  }),
)
export const rowsOf = (asked: number | undefined): number => asked ?? DEFAULT_ROWS
export const offset = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 100_000, description: 'Number of entries to skip' }),
)
export const before = Type.Optional(
  Type.String({ maxLength: 40, description: 'Only older entries: `next_before` of the previous answer' }),
)
export const closed = { additionalProperties: false } as const
