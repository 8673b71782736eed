import type { CompiledQuery, Kysely } from 'kysely'
import type { SqlValue, Tables } from '../store/index.ts'

/** Stands in a compiled statement where each run has a value of its own. */
class Slot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A statement of which only the values change from run to run. */
export type Bound<Names extends string> = (values: Readonly<Record<Names, SqlValue>>) => CompiledQuery

/**
 * Compiles a statement once, for all values that it will run with. Kysely takes 60 µs and more to write the text of an insert of sums: of the dozen
 * statements that derive a bucket that was six times as long as running them.
 *
 * @param build is given what stands for each value; it may hand it to the query, and not look at it
 */
function bound<Names extends string>(
  names: readonly Names[],
  build: (slots: Readonly<Record<Names, number>>) => CompiledQuery,
): Bound<Names> {
  const slots = Object.fromEntries(names.map((name) => [name, new Slot(name)])) as unknown as Record<Names, number>
  const compiled = build(slots)
  return (values) => ({
    ...compiled,
    parameters: compiled.parameters.map((parameter) =>
      parameter instanceof Slot ? values[parameter.name as Names] : parameter,
    ),
  })
}

/** Texts differ by engine, so each connection has its own; they go with it. */
const byConnection = new WeakMap<Kysely<Tables>, Map<string, unknown>>()

/**
 * The statement of this key, compiled when it is first asked for.
 *
 * @param key names everything that the text depends on: there are few, and they are kept
 */
export function boundOnce<Names extends string>(
  db: Kysely<Tables>,
  key: string,
  names: readonly Names[],
  build: (slots: Readonly<Record<Names, number>>) => CompiledQuery,
): Bound<Names> {
  const statements = byConnection.get(db) ?? new Map<string, unknown>()
  byConnection.set(db, statements)
  const known = statements.get(key) as Bound<Names> | undefined
  if (known !== undefined) return known
  const made = bound(names, build)
  statements.set(key, made)
  return made
}
