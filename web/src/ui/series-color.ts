/** Number of colours that people with any colour vision can tell apart; they are in `tokens.css`. */
export const SERIES_COLORS = 8

/** The name that ingest gives to all names above its limit; they get no colour of their own. */
const OTHERS = '(other)'

/**
 * The colour tokens of the series of one chart. A name has the colour of its hash on every chart; when two names of this chart would
 * share one, the later (by name) gets the next free colour.
 */
export function seriesTokens(names: readonly string[]): Map<string, string> {
  const taken = new Set<number>()
  const tokens = new Map<string, string>()
  for (const name of [...names].sort()) {
    if (name === OTHERS) {
      tokens.set(name, '--series-other')
      continue
    }
    const color = freeColor(hash(name) % SERIES_COLORS, taken)
    taken.add(color)
    tokens.set(name, `--series-${color + 1}`)
  }
  return tokens
}

function freeColor(wanted: number, taken: ReadonlySet<number>): number {
  if (taken.size >= SERIES_COLORS) return wanted
  let color = wanted
  while (taken.has(color)) color = (color + 1) % SERIES_COLORS
  return color
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return value >>> 0
}
