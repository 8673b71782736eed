import { cut, defanged, oneLine } from '../cards/card.ts'
import { block, button, COLOURS, escapeHtml, page, paragraph } from './html.ts'

/** A plain e-mail. Names in it may be of strangers: links are made of `link` and `footer.link` only. */
export interface Notice {
  subject: string
  lines: readonly string[]
  link: { label: string; url: string }
  footer: { text: string; link?: { label: string; url: string } }
}

const SUBJECT_MAX = 150
const LINE_MAX = 500

export function composeNotice({ subject, lines, link, footer }: Notice): {
  subject: string
  text: string
  html: string
} {
  const heading = safe(subject, SUBJECT_MAX)
  const shown = lines.map((line) => safe(line, LINE_MAX))
  const end = footer.link === undefined ? '' : `\n${footer.link.label}: ${footer.link.url}`
  const anchor =
    footer.link === undefined
      ? ''
      : ` <a href="${escapeHtml(footer.link.url)}" style="color:inherit">${escapeHtml(footer.link.label)}</a>`
  return {
    subject: heading,
    text: `${[heading, shown.join('\n'), `${link.label}: ${link.url}`, `${footer.text}${end}`].join('\n\n')}\n`,
    html: page(heading, COLOURS.neutral, [
      ...shown.map(paragraph),
      button(link),
      block(`${escapeHtml(footer.text)}${anchor}`, 'muted'),
    ]),
  }
}

const safe = (text: string, max: number): string => cut(defanged(oneLine(text)), max)
