import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
import { parse } from 'acorn'
import * as fc from 'fast-check'
import { amount } from './length.ts'

/** A regular expression and its place in the code. */
export interface Pattern {
  place: string
  pattern: RegExp
}

/** All regular expression literals in a TypeScript file. */
export async function patternsIn(root: string, file: string): Promise<Pattern[]> {
  const code = stripTypeScriptTypes(await readFile(join(root, file), 'utf8'))
  const found: Pattern[] = []
  parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    onToken(token) {
      if (token.type.label !== 'regexp') return
      const { value, loc } = token as typeof token & { value: { pattern: string; flags: string } }
      const { pattern, flags } = value
      found.push({ place: `${file}:${loc?.start.line}`, pattern: new RegExp(pattern, flags) })
    },
  })
  return found
}

/** The code in a TypeScript file that makes regular expressions at run time, which `patternsIn` cannot find. */
export async function madePatternsIn(root: string, file: string): Promise<string[]> {
  const code = await readFile(join(root, file), 'utf8')
  if (!code.includes('RegExp')) return []
  return madePatterns(stripTypeScriptTypes(code)).map((made) => `${file}: ${made}`)
}

/** The same for JavaScript: uses of `RegExp`, with or without `new`, or under another name. */
export function madePatterns(code: string): string[] {
  const tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module' })
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const one of node) visit(one)
      return
    }
    if (!isNode(node)) return
    const isCall = node.type === 'NewExpression' || node.type === 'CallExpression'
    if ((isCall && isNamedRegExp(node.callee)) || isNamedRegExp(node)) {
      const isWritten = Array.isArray(node.arguments) && isPattern(node.arguments[0])
      if (!isWritten) found.push(code.slice(node.start, node.end))
      return
    }
    // `instanceof RegExp` makes none.
    const isAsked = node.type === 'BinaryExpression' && node.operator === 'instanceof'
    for (const [key, value] of Object.entries(node)) if (!(isAsked && key === 'right')) visit(value)
  }
  visit(tree)
  return found
}

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const isNamedRegExp = (node: unknown): boolean =>
  isNode(node) &&
  ((node.type === 'Identifier' && node.name === 'RegExp') ||
    (node.type === 'MemberExpression' && isNamedRegExp(node.property) && node.computed === false))

const isPattern = (node: unknown): boolean => isNode(node) && node.type === 'Literal' && 'regex' in node

/** At this length linear matching takes 0.25 ms and quadratic matching 2 s; at night 0.5 ms and 7 s. */
const LENGTH = amount(100_000, 200_000)
/** Wall time, far from both, because the machine may be busy. */
const LIMIT_MS = amount(500, 2_000)
const SAMPLES = amount(2, 5)
const SEED = 20

/**
 * Finds a text on which matching takes more than linear time; null when there is none. Slow texts repeat a part of a matching text and then
 * fail to match, so matching texts are cut up and their parts repeated.
 */
export function slowTextFor({ pattern }: Pattern, tries = 3, limitMs = LIMIT_MS): string | null {
  const seen = new Set<string>()
  for (const unit of unitsOf(pattern)) {
    for (const [head, tail] of [
      ['', '\u0001'],
      [`${unit}x`, '\n!'],
    ] as const) {
      const text = `${head}${unit.repeat(Math.ceil(LENGTH / unit.length))}${tail}`
      if (seen.has(text.slice(0, 200) + tail)) continue
      seen.add(text.slice(0, 200) + tail)
      // Several tries, because the machine may have stalled.
      const isSlow = Array.from({ length: tries }).every(() => !endsInTime(pattern, text, limitMs))
      if (isSlow)
        return `${JSON.stringify(unit)} again and again, after ${JSON.stringify(head)}, before ${JSON.stringify(tail)}`
    }
  }
  return null
}

/** Parts of matching texts, whose repetition makes the pattern start over again and again. */
export function unitsOf(pattern: RegExp): Set<string> {
  const units = new Set<string>()
  for (const sample of samplesOf(pattern)) {
    for (const char of new Set(sample.slice(0, 12))) units.add(char)
    for (let cuts = 1; cuts <= 4; cuts++) units.add(sample.slice(0, Math.ceil((sample.length * cuts) / 4)))
    units.add(sample.slice(Math.floor(sample.length / 3)))
  }
  units.delete('')
  return units
}

/** Texts that match the pattern without its lookarounds and anchors, which most generated texts would not satisfy. */
function samplesOf(pattern: RegExp): string[] {
  const free = pattern.source
    .replaceAll(/\(\?<?[=!](?:[^()\\[]|\\.|\[[^\]]*\])*\)/g, '')
    .replaceAll(/\\[bB]/g, '')
    .replaceAll(/\\p\{[^}]*\}/g, 'a-z')
    .replaceAll(/\\u\{[^}]*\}/g, 'a')
  return fc.sample(fc.stringMatching(new RegExp(free, 's'), { size: 'xsmall' }), { numRuns: SAMPLES, seed: SEED })
}

/** V8 can interrupt `exec`, because it checks for interrupts when it backtracks. */
const MATCHING = new Script(
  '{ let n = 0; while (pattern.exec(text) !== null && pattern.global && n++ < 2e4) { if (pattern.lastIndex === 0) break } }',
)
/** One context for tens of thousands of texts, because making one costs more than a match. */
const matched = createContext({})

function endsInTime(pattern: RegExp, text: string, limitMs: number): boolean {
  pattern.lastIndex = 0
  Object.assign(matched, { pattern, text })
  try {
    MATCHING.runInContext(matched, { timeout: limitMs })
    return true
  } catch (thrown) {
    // The error comes from the other context, so `instanceof Error` would be false.
    if ((thrown as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw thrown
  }
}
