import { type Environment, SETTINGS } from '../config.ts'

const NAMES = Object.values(SETTINGS).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]))
/** Settings with shorter names are left out, as another program's variables often differ from them by one letter. */
const SHORTEST = 8
/** From this length on, two mistakes are still no other word. */
const LONG = 12

/**
 * What to say about variables that look like a setting with a typing mistake: they would have no effect, and no one would know. A
 * setting that is set was not misspelt.
 */
export function misspelt(environment: Environment): string[] {
  const meant = NAMES.filter((name) => name.length >= SHORTEST && (environment[name] ?? '') === '')
  return Object.keys(environment).flatMap((given) => {
    if (NAMES.includes(given)) return []
    const name = meant.find((one) => mistakes(given, one) <= (one.length < LONG ? 1 : 2))
    return name === undefined ? [] : [`${given} is not a setting and has no effect: did you mean ${name}?`]
  })
}

/** How many letters were left out, added, exchanged or swapped with their neighbour. */
function mistakes(given: string, meant: string): number {
  if (Math.abs(given.length - meant.length) > 2) return Number.POSITIVE_INFINITY
  const rows: number[][] = [Array.from({ length: meant.length + 1 }, (_, n) => n)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= given.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= meant.length; j++) {
      const isSwapped = i > 1 && given[i - 1] === meant[j - 2] && given[i - 2] === meant[j - 1]
      const exchanged = at(i - 1, j - 1) + Number(given[i - 1] !== meant[j - 1])
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, exchanged, isSwapped ? at(i - 2, j - 2) + 1 : exchanged))
    }
  }
  return at(given.length, meant.length)
}
