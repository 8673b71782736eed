import { createHash } from 'node:crypto'
import type { Inner } from '../realm/index.ts'
import type { Host } from './host.ts'

/** The APIs on plain values. All of them take what they get; none throws. */
export function getType(value: Inner): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** As String() has it. The sandbox's objects have their own toString, so host and sandbox agree. */
export const makeString = (value: Inner): string => String(value)

export const makeNumber = (value: Inner): number => Number(value)

/** Cut towards zero; what is no number stays NaN. */
export const makeInteger = (value: Inner): number => Math.trunc(Number(value))

/** Rows to a map from one column to another; null unless given a table. */
export function makeTableMap(table: Inner, keyColumn: Inner, valueColumn: Inner): Record<string, Inner> | null {
  if (!Array.isArray(table)) return null
  const map: Record<string, Inner> = {}
  for (const row of table) {
    if (typeof row === 'object' && row !== null && Object.hasOwn(row, String(keyColumn))) {
      map[String(row[String(keyColumn)])] = row[String(valueColumn)]
    }
  }
  return map
}

/** Both ends included. */
export function generateRandom(random: () => number, min: Inner, max: Inner): number {
  const low = Math.ceil(Number(min))
  return low + Math.floor(random() * (Math.floor(Number(max)) - low + 1))
}

/** SHA-256 of a text, in Base64 unless `outputEncoding` says otherwise. */
export function sha256(value: Inner, options: Inner): string {
  const encoding =
    typeof options === 'object' && options !== null && 'outputEncoding' in options ? options.outputEncoding : 'base64'
  const hash = createHash('sha256').update(String(value))
  return hash.digest(encoding === 'hex' || encoding === 'base64url' ? encoding : 'base64')
}

export function mathApi({ realm: { inside } }: Host): Inner {
  const { abs, ceil, floor, round, max, min, pow, sqrt } = Math
  const functions = { abs, ceil, floor, round, max, min, pow, sqrt }
  return inside.object(
    Object.fromEntries(
      Object.entries(functions).map(([name, compute]: [string, (...numbers: number[]) => number]) => [
        name,
        inside.wrap((...numbers) => compute(...numbers.map(Number))),
      ]),
    ),
  )
}

export function objectApi({ realm: { inside } }: Host): Inner {
  return inside.object({
    keys: inside.wrap((value) => inside.copy(Object.keys(asObject(value)))),
    // Shallow, as Object.values is: the members stay the template's own.
    values: inside.wrap((value) => shallow(inside.copy([]), Object.values(asObject(value)))),
    entries: inside.wrap((value) =>
      shallow(
        inside.copy([]),
        Object.entries(asObject(value)).map((entry) => shallow(inside.copy([]), entry)),
      ),
    ),
    freeze: inside.wrap((value) => Object.freeze(value)),
    delete: inside.wrap((value, key) => Reflect.deleteProperty(asObject(value), String(key))),
  })
}

export function jsonApi({ realm: { inside } }: Host): Inner {
  const orUndefined = (convert: () => Inner): Inner => {
    try {
      return convert()
    } catch {
      return undefined
    }
  }
  return inside.object({
    parse: inside.wrap((text) => orUndefined(() => inside.parse(String(text)))),
    stringify: inside.wrap((value) => orUndefined(() => inside.stringify(value))),
  })
}

function shallow(target: Inner, items: readonly Inner[]): Inner {
  if (Array.isArray(target)) for (const [index, item] of items.entries()) target[index] = item
  return target
}

/** Object.keys and the others take no null or undefined. */
function asObject(value: Inner): object {
  if (value === null || value === undefined) throw new TypeError(`${value} is no object.`)
  return Object(value)
}
