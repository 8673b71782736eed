import type { Problem } from './problems.ts'
import type { Wanted } from './wanted.ts'

export interface Matched<W, P> {
  /** What the files ask for, with what there is of it. */
  pairs: readonly { wanted: W; present: P | null }[]
  /** What no file names. */
  rest: readonly P[]
}

/**
 * Brings together by name what is wanted and what there is. A new name that says what it was called before stands for that.
 *
 * @param what an entry is, for messages
 * @param problems receives what is not clear: two of one name, and a renaming of which both names are there
 */
export function matchByName<W extends Wanted, P>(
  what: string,
  wanted: readonly W[],
  present: readonly P[],
  nameOf: (present: P) => string,
  problems: Problem[],
): Matched<W, P> {
  const named = Map.groupBy(present, nameOf)
  const taken = new Set<P>()
  const pairs = wanted.map((one) => {
    const here = named.get(one.name) ?? []
    const before = one.renamedFrom === null ? [] : (named.get(one.renamedFrom) ?? [])
    const found = here.length > 0 ? here : before
    if (found.length > 1) {
      problems.push(
        one.source.problem(`the service has ${found.length} ${what}s of the name “${one.name}”: rename one there`),
      )
    }
    if (here.length > 0 && before.length > 0 && one.renamedFrom !== one.name) {
      problems.push(
        one.source
          .at('renamed_from')
          .problem(
            `the service has both “${one.renamedFrom}” and “${one.name}”: delete one, or leave out renamed_from`,
          ),
      )
    }
    const [match = null] = found
    for (const other of found) taken.add(other)
    return { wanted: one, present: match }
  })
  return { pairs, rest: present.filter((other) => !taken.has(other)) }
}
