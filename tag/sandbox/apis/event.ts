import type { Inner } from '../realm/index.ts'
import type { Plain } from '../types.ts'
import type { Host } from './host.ts'

/** A copy of the value at a dotted path, numbers being indices; undefined if there is none. */
export function getEventData({ realm, permissions, event }: Host, path: Inner): Inner {
  if (typeof path !== 'string') return undefined
  permissions.demandEventKey(path)
  return realm.inside.copy(valueAt(event(), path.split('.')))
}

export function getAllEventData({ realm, permissions, event }: Host): Inner {
  permissions.demandAllEventData()
  return realm.inside.copy(event())
}

function valueAt(value: Plain, [key, ...rest]: readonly string[]): Plain {
  if (key === undefined) return value
  // Own keys only: "constructor" or "length" of a text are no event data.
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return valueAt((value as Readonly<Record<string, Plain>>)[key], rest)
}
