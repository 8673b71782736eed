import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const REPOSITORY = join(import.meta.dirname, '..')
const MODULES = 'node_modules/'

/** A package in `package-lock.json`. */
export interface Locked {
  /** Where npm installs it, relative to the top of the repository. */
  path: string
  name: string
  version: string
  license?: string
  integrity?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  os?: string | string[]
  cpu?: string | string[]
  dependencies?: Record<string, string>
}

const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Omit<Locked, 'path' | 'name'>>
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf(MODULES) + MODULES.length)

function packageAt(path: string): Locked | undefined {
  const entry = packages[path]
  return entry === undefined ? undefined : { path, name: nameOf(path), ...entry }
}

/** Every package of the lockfile. */
export const allLocked = (): Locked[] =>
  Object.keys(packages).flatMap((path) => (path === '' ? [] : (packageAt(path) ?? [])))

/** The packages of these names and all their dependencies; names not in the lockfile are left out. */
export function neededBy(names: readonly string[]): Locked[] {
  const found = new Map<string, Locked>()
  const add = (name: string, from: string) => {
    const place = resolve(name, from)
    if (place === undefined || found.has(place.path)) return
    found.set(place.path, place)
    for (const dependency of Object.keys(place.dependencies ?? {})) add(dependency, place.path)
  }
  for (const name of names) add(name, '')
  return [...found.values()]
}

/** Resolves a package as Node does: below `from`, or below one of its parents. */
function resolve(name: string, from: string): Locked | undefined {
  const place = packageAt(`${from === '' ? '' : `${from}/`}${MODULES}${name}`)
  if (place !== undefined || from === '') return place
  const above = from.lastIndexOf(`/${MODULES}`)
  return resolve(name, above === -1 ? '' : from.slice(0, above))
}
