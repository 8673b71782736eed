import type { Plain } from '../types.ts'
import type { Inner } from './inside.ts'

/** A copy for the host. Throws TypeError on a function or a cycle, which have no place outside the sandbox. */
export function toPlain(value: Inner, what: string): Plain {
  return copy(value, what, [])
}

function copy(value: Inner, what: string, above: readonly object[]): Plain {
  if (value === null || value === undefined) return value
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object') throw new TypeError(`${what} must not hold a ${typeof value}.`)
  if (above.includes(value)) throw new TypeError(`${what} must not hold a cycle.`)
  const deeper = [...above, value]
  // Its own `map` would make another array of the sandbox.
  if (Array.isArray(value)) return Array.from(value, (item) => copy(item, what, deeper))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item, what, deeper)]))
}

/** Equal in content, whichever side of the border the objects come from. Functions are equal only to themselves. */
export function sameContent(one: Inner, other: Inner): boolean {
  if (Object.is(one, other) || one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const ours = Object.entries(one)
  const theirs = new Map(Object.entries(other))
  return (
    ours.length === theirs.size && ours.every(([key, value]) => theirs.has(key) && sameContent(value, theirs.get(key)))
  )
}

/** A value as a message shows it: JSON where there is one. */
export function show(value: Inner): string {
  if (typeof value === 'function') return 'a function'
  if (value !== null && typeof value === 'object') {
    try {
      return JSON.stringify(value, (_, item: unknown) => (typeof item === 'function' ? 'a function' : item))
    } catch {
      return 'an object with a cycle'
    }
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
