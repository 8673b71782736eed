import type { Random } from '../../../testkit/random.ts'
import { type HostileValues, RAW_VALUES } from './values.ts'

type Container = Record<string, unknown> | unknown[]

/** Stands for a value that JSON.stringify cannot write, until the text is made. */
const RAW_MARK = '\u0001raw:'
const LONGEST_REPEATED = 40
const DEPTHS = [30, 3_000, 100_000] as const

/**
 * A JSON text made from a value with a few places broken: in the value, in the text, or in its bytes.
 *
 * @param value is not changed
 */
export function brokenJson(random: Random, hostile: HostileValues, value: unknown): Buffer {
  const copy: unknown = structuredClone(value)
  const changes = random.below(4)
  let root = { value: copy }
  for (let i = 0; i < changes; i++) breakPlace(random, hostile, root)
  if (random.chance(0.02)) root = { value: hostile.value() }
  const text = rawText(JSON.stringify(root.value) ?? '')
  return random.chance(0.25) ? brokenBytes(random, hostile, text) : Buffer.from(text)
}

function breakPlace(random: Random, hostile: HostileValues, root: { value: unknown }): void {
  const [holder, key] = placeIn(random, root)
  switch (random.below(10)) {
    case 0:
      remove(holder, key)
      return
    case 1:
      addTo(holder, random.pick(['__proto__', 'constructor', 'prototype', hostile.text()]), hostile.value())
      return
    case 2:
      put(holder, key, RAW_MARK + random.pick(RAW_VALUES))
      return
    case 3:
      put(holder, key, nested(random))
      return
    case 4:
      put(holder, key, repeated(random, valueAt(holder, key)))
      return
    case 5:
      put(holder, key, [valueAt(holder, key)])
      return
    case 6:
      put(holder, key, 'long'.repeat(random.pick([15, 16, 17, 63, 64, 65])))
      return
    case 7:
      put(holder, key, { ...many(random, hostile), first: valueAt(holder, key) })
      return
    default:
      put(holder, key, hostile.value())
  }
}

/** A list of the same value, a long one only of what is short: a list of lists of lists would keep the attacker busy. */
function repeated(random: Random, value: unknown): unknown[] {
  const isShort = typeof value !== 'object' && String(value).length <= LONGEST_REPEATED
  const length = random.pick(isShort && random.chance(0.05) ? [499, 501, 20_000] : [2, 3])
  return Array.from({ length }, () => value)
}

/** A random place in the value, the deeper the rarer. */
function placeIn(random: Random, root: { value: unknown }): [Container, string] {
  let holder: Container = root
  let key = 'value'
  for (;;) {
    const inner = valueAt(holder, key)
    if (typeof inner !== 'object' || inner === null || (key === 'value' ? random.chance(0.05) : random.chance(0.25)))
      break
    const next = random.anyOf(Object.keys(inner))
    if (next === undefined) break
    holder = inner as Container
    key = next
  }
  return [holder, key]
}

const valueAt = (holder: Container, key: string): unknown => Object.getOwnPropertyDescriptor(holder, key)?.value

/** Defined, not assigned: `__proto__` is to become a key like any other. */
function put(holder: Container, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
}

function addTo(holder: Container, key: string, value: unknown): void {
  if (Array.isArray(holder)) holder.push(value)
  else put(holder, key, value)
}

function remove(holder: Container, key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else Reflect.deleteProperty(holder, key)
}

function nested(random: Random): string {
  const depth = random.chance(0.95) ? 30 : random.pick(DEPTHS)
  return random.chance(0.5)
    ? `${RAW_MARK}${'['.repeat(depth)}${']'.repeat(depth)}`
    : `${RAW_MARK}${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
}

/** Made once: making one costs more than a hundred requests. */
const MANY = [3, 30, 501, 1_001].map((size) =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => [`name ${index}`, index])),
)

const many = (random: Random, hostile: HostileValues): Record<string, unknown> => ({
  ...(random.chance(0.05) ? random.anyOf(MANY) : MANY[0]),
  [hostile.text()]: 1,
})

const rawText = (text: string): string =>
  text.includes('\\u0001raw:')
    ? text.replaceAll(/"\\u0001raw:((?:[^"\\]|\\.)*)"/g, (_, inner: string) => String(JSON.parse(`"${inner}"`)))
    : text

const INVALID_UTF8 = Buffer.from([0x22, 0xff, 0xfe, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0x22])

function brokenBytes(random: Random, hostile: HostileValues, text: string): Buffer {
  const cut = random.below(text.length + 1)
  switch (random.below(9)) {
    case 0:
      return Buffer.from(text.slice(0, cut))
    case 1:
      return Buffer.from(`\ufeff${text}`)
    case 2:
      return Buffer.from(`${text}${random.pick(['}', ']', ' garbage', '\0', ',', text])}`)
    case 3:
      return Buffer.from(`// comment\n${text}`)
    case 4:
      return Buffer.concat([Buffer.from(text.slice(0, cut)), INVALID_UTF8, Buffer.from(text.slice(cut))])
    case 5:
      // The same key twice: readers differ in which one counts.
      return Buffer.from(text.replace('{', () => `{${text.slice(1, text.lastIndexOf('}'))},`))
    case 6:
      return Buffer.from(text, random.pick(['utf16le', 'latin1']))
    case 7:
      return Buffer.from(`${' '.repeat(random.below(3_000))}${text}`)
    default:
      return Buffer.from(text.slice(0, cut) + hostile.text() + text.slice(cut))
  }
}
