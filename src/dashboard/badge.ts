import { isoTime } from '../lib/index.ts'
import { printable, shortened, svgText, textWidth } from './badge-text.ts'
import type { Status } from './status.ts'

/** Characters of the label; a name is cut to as many. */
export const LABEL_MAX = 40

const HEIGHT = 20
const FONT_SIZE = 11
/** Between an edge and what stands beside it, px. */
const PAD = 6
const MARK = 12
const BASELINE = 14

/** Grounds that white text can be read on with 4.5 : 1 and more. They are part of the badge, so any page can be around it. */
const LABEL_GROUND = '#3e4a58'
const GROUNDS: Readonly<Record<Status, string>> = {
  ok: '#17734a',
  warning: '#8a5600',
  critical: '#b42420',
  error: '#6a3fc0',
  unknown: '#53606f',
}

/** The marks of the dashboard in a square of 12: colour never says it alone. */
const MARKS: Readonly<Record<Status, string>> = {
  ok: '<circle cx="6" cy="6" r="4.5"/>',
  warning: '<path d="M6 1.5 11 10.5H1Z"/>',
  critical: '<rect x="2" y="2" width="8" height="8"/>',
  error: '<path d="M6 1 11 6 6 11 1 6Z"/>',
  unknown: '<circle cx="6" cy="6" r="3.75" fill="none" stroke="#fff" stroke-width="2"/>',
}

/**
 * A status as a small SVG image that needs nothing from elsewhere and holds no script.
 *
 * @param since when the trouble began (epoch ms), for its title; null: there is none, or it is not known
 */
export function badge(label: string, status: Status, since: number | null = null): string {
  const shown = shortened(printable(label), LABEL_MAX)
  const labelWidth = textWidth(shown, FONT_SIZE)
  const wordWidth = textWidth(status, FONT_SIZE)
  const split = Math.ceil(labelWidth + 2 * PAD)
  const width = Math.ceil(split + PAD + MARK + PAD / 2 + wordWidth + PAD)
  const began = since === null ? '' : ` since ${isoTime(since).slice(0, 16).replace('T', ' ')} UTC`
  const title = svgText(`${shown}: ${status}${began}`)
  const text = (x: number, length: number, content: string) =>
    `<text x="${x}" y="${BASELINE}" textLength="${length.toFixed(1)}">${content}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    // No id in it: many badges can be pasted into one page.
    `<rect fill="${GROUNDS[status]}" width="${width}" height="${HEIGHT}" rx="4"/>`,
    `<path fill="${LABEL_GROUND}" d="M4 0H${split}V${HEIGHT}H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z"/>`,
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="${FONT_SIZE}">`,
    text(PAD, labelWidth, svgText(shown)),
    `<g transform="translate(${split + PAD} ${(HEIGHT - MARK) / 2})">${MARKS[status]}</g>`,
    text(split + PAD + MARK + PAD / 2, wordWidth, status),
    '</g>',
    '</svg>\n',
  ].join('\n')
}
