import { type Node, parseDocument } from 'yaml'
import type { Finding, Plain, Section } from '../types.ts'

/**
 * The value of a JSON section, or the finding with the line of the mistake. V8 names a position for all mistakes but a
 * text that ends too early. A text may go over the end of its line: a listed template has a picture that was wrapped, in
 * each of its versions (O).
 */
export function parseJson(section: Section, marker: string): { value: Plain } | { finding: Finding } {
  try {
    const value: Plain = JSON.parse(section.text.replace(STRING, (text) => text.replaceAll('\n', '\\n')))
    return { value }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const position = /at position (\d+)/.exec(message)?.[1]
    const offset = position === undefined ? section.text.trimEnd().length : Number(position)
    const line = section.line + newlines(section.text.slice(0, offset))
    return { finding: { line, rule: 'json', message: `${marker} is not JSON: ${message}.` } }
  }
}

/** From one quote to the next that is not escaped. */
const STRING = /"(?:[^"\\]|\\.)*"/gs

/** The file's line of the value at a path in a section of valid JSON, of the whole value without a path. */
export function lineOf(section: Section, path: readonly (string | number)[]): number {
  // JSON is YAML, and the YAML reader keeps the places.
  const node: Node | undefined = parsed(section).getIn(path, true) as Node | undefined
  const offset = node?.range?.[0]
  return offset === undefined ? section.line : section.line + newlines(section.text.slice(0, offset))
}

// A form of 40 fields asks for 40 lines of one and the same section.
const documents = new WeakMap<Section, ReturnType<typeof parseDocument>>()

function parsed(section: Section): ReturnType<typeof parseDocument> {
  const known = documents.get(section)
  if (known !== undefined) return known
  const document = parseDocument(section.text)
  documents.set(section, document)
  return document
}

const newlines = (text: string): number => text.split('\n').length - 1

export type PlainObject = { readonly [key: string]: Plain }

export const isObject = (value: Plain): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: Plain): value is readonly Plain[] => Array.isArray(value)
