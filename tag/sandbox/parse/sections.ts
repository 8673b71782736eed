import type { Finding, Section } from '../types.ts'

/** In the order in which the editor exports them. */
const MARKERS = [
  '___TERMS_OF_SERVICE___',
  '___INFO___',
  '___TEMPLATE_PARAMETERS___',
  '___SANDBOXED_JS_FOR_SERVER___',
  '___SERVER_PERMISSIONS___',
  '___TESTS___',
  '___NOTES___',
] as const

export type Marker = (typeof MARKERS)[number]

/** Files that were never meant for the gallery do without the terms, and those that need no permission without theirs (O). */
const OPTIONAL: readonly Marker[] = ['___TERMS_OF_SERVICE___', '___SERVER_PERMISSIONS___']

const MARKER_LIKE = /^\s*_{2,}[A-Z][A-Z_]*_{2,}\s*$/

interface Split {
  sections: Map<Marker, Section>
  preamble: number | null
  findings: Finding[]
}

/** The sections by their markers, and what is wrong with the markers. A section begins on the line after its marker. */
export function splitSections(text: string): Split {
  const lines = text.split('\n')
  const found = markerLines(lines)
  const findings: Finding[] = []
  const sections = new Map<Marker, Section>()
  for (const [position, { name, index }] of found.entries()) {
    const end = found[position + 1]?.index ?? lines.length
    const problem = problemWith(name, sections)
    if (problem !== null) findings.push({ line: index + 1, rule: 'sections', message: problem })
    if (isMarker(name) && !sections.has(name)) {
      sections.set(name, { line: index + 2, text: lines.slice(index + 1, end).join('\n') })
    }
  }
  for (const marker of MARKERS) {
    if (OPTIONAL.includes(marker) || sections.has(marker)) continue
    findings.push({ line: lines.length, rule: 'sections', message: `The section ${marker} is missing.` })
  }
  return { sections, preamble: beforeFirst(lines, found[0]?.index ?? lines.length), findings }
}

function markerLines(lines: readonly string[]): { name: string; index: number }[] {
  return lines.flatMap((name, index) => (MARKER_LIKE.test(name) ? [{ name, index }] : []))
}

/** Line of the first text before the first marker, or null. */
function beforeFirst(lines: readonly string[], first: number): number | null {
  const index = lines.slice(0, first).findIndex((line) => line.trim() !== '')
  return index === -1 ? null : index + 1
}

function problemWith(name: string, earlier: ReadonlyMap<Marker, Section>): string | null {
  if (/_WEB_/.test(name))
    return `${name.trim()} belongs to a web container; a server container cannot import this file.`
  if (!isMarker(name)) {
    const meant = name.trim()
    return isMarker(meant)
      ? `The marker ${meant} must stand alone on its line, without spaces.`
      : `${meant} is no section of a server template. Sections are ${MARKERS.join(', ')}.`
  }
  if (earlier.has(name)) return `The section ${name} is there twice.`
  const later = MARKERS.slice(MARKERS.indexOf(name) + 1).find((marker) => earlier.has(marker))
  return later === undefined ? null : `The section ${name} must come before ${later}.`
}

const isMarker = (name: string): name is Marker => MARKERS.some((marker) => marker === name)
