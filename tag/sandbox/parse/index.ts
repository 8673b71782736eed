import type { Finding, Plain, Section, Template } from '../types.ts'
import { isObject, lineOf, type PlainObject, parseJson } from './json.ts'
import { readParameters } from './parameters.ts'
import { readPermissions } from './permissions.ts'
import { type Marker, splitSections } from './sections.ts'
import { readTests } from './suite.ts'

export { isList, isObject, lineOf, type PlainObject } from './json.ts'

/** The file is no server template. `findings` says all that is wrong, with lines. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly findings: readonly Finding[]

  constructor(findings: readonly Finding[]) {
    super(findings.map(({ line, message }) => `line ${line}: ${message}`).join('\n'))
    this.findings = findings
  }
}

const BYTE_ORDER_MARKS = /^\uFEFF+/

/** Reads a .tpl file as the editor exports it. Throws TemplateError with every broken section. */
export function parseTemplate(text: string): Template {
  // The editor's export begins with a mark in most published templates, and with two in some that were saved once more (O).
  const bare = text.replace(BYTE_ORDER_MARKS, '')
  const { sections, preamble, findings } = splitSections(bare)
  findings.push(...strayCharacters(bare))
  const section = (marker: Marker): Section => sections.get(marker) ?? { line: 1, text: '' }
  const json = (marker: Marker): Plain => {
    if (!sections.has(marker)) return undefined
    const result = parseJson(section(marker), marker)
    if ('value' in result) return result.value
    findings.push(result.finding)
    return undefined
  }
  const info = readInfo(section('___INFO___'), json('___INFO___'), findings)
  const parameters = json('___TEMPLATE_PARAMETERS___')
  const permissions = json('___SERVER_PERMISSIONS___')
  const template: Template = {
    text: bare,
    terms: sections.get('___TERMS_OF_SERVICE___') ?? null,
    preamble,
    info: { line: lineOf(section('___INFO___'), []), value: info },
    parameters:
      parameters === undefined ? [] : readParameters(section('___TEMPLATE_PARAMETERS___'), parameters, findings),
    code: section('___SANDBOXED_JS_FOR_SERVER___'),
    permissions:
      permissions === undefined ? [] : readPermissions(section('___SERVER_PERMISSIONS___'), permissions, findings),
    tests: sections.has('___TESTS___') ? readTests(section('___TESTS___'), findings) : { scenarios: [], setup: null },
    notes: section('___NOTES___'),
  }
  if (findings.length > 0) throw new TemplateError(findings.toSorted((one, other) => one.line - other.line))
  return template
}

function readInfo(section: Section, value: Plain, findings: Finding[]): PlainObject {
  if (isObject(value)) return value
  if (value !== undefined)
    findings.push({ line: lineOf(section, []), rule: 'info', message: '___INFO___ must be an object.' })
  return {}
}

/** A single control character breaks the import; line ends are LF in every published template that was looked at. */
function strayCharacters(text: string): Finding[] {
  return text.split('\n').flatMap((content, index) => {
    const stray = [...content].find((character) => isStray(character.charCodeAt(0)))
    if (stray === undefined) return []
    const code = `U+${stray.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
    return [{ line: index + 1, rule: 'characters', message: `The character ${code} must not be in the file.` }]
  })
}

const TAB = 0x09

/** Controls, the two line separators that split a script, and a byte-order mark or replacement sign in mid-text. */
const isStray = (code: number): boolean =>
  (code < 0x20 && code !== TAB) || (code >= 0x7f && code < 0xa0) || [0x2028, 0x2029, 0xfeff, 0xfffd].includes(code)
