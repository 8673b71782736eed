import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machineLine } from '../../bench/lib/machine.ts'

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'reliability.md')

/** The parts of docs/reliability.md that a run writes, each between two marks. */
export type Part = 'chaos' | 'fairness' | 'fuzz' | 'pages' | 'pressure' | 'soak' | 'overload'

/**
 * Puts the figures of a run into docs/reliability.md, in place of those of the run before, under a line that says when and on
 * what they were taken.
 *
 * @param text Markdown, without headings
 * @throws Error when the document has no such part
 */
export function writeFigures(part: Part, settings: string, text: string): void {
  writeFileSync(DOCUMENT, withFigures(readFileSync(DOCUMENT, 'utf8'), part, `${heading(settings)}\n\n${text.trim()}`))
}

const heading = (settings: string): string =>
  `*${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, ${machineLine()}. ${settings}*`

/** The document with `text` between the marks of the part. @throws Error when they are not there, or not in order */
export function withFigures(document: string, part: Part, text: string): string {
  const [start, end] = [`<!-- ${part} -->`, `<!-- /${part} -->`]
  const from = document.indexOf(start)
  const to = document.indexOf(end)
  if (from === -1 || to < from) throw new Error(`docs/reliability.md has no ${start} … ${end}`)
  return `${document.slice(0, from + start.length)}\n\n${text}\n\n${document.slice(to)}`
}
