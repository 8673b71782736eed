import { type Card, cut, defanged, linesWithin, oneLine, previewOf, SHAPES } from '../cards/card.ts'
import { cardOf } from '../cards/card-of.ts'
import {
  aboutIncident,
  countsOf,
  digestHeading,
  downInWords,
  incidentsInWords,
  incidentsOf,
  morningOf,
  percent,
  scoreOf,
  trendOf,
  whole,
  worseTagsOf,
} from '../cards/digest-card.ts'
import {
  DIGEST_INCIDENTS,
  type DigestIncident,
  type DigestMessage,
  type DigestSite,
  type Message,
  type MessageGroup,
} from '../message.ts'
import { block, button, COLOURS, dataTable, escapeHtml, factTable, heading, page, paragraph } from './html.ts'

/** An e-mail without its addresses. */
interface EmailContent {
  /** One line. */
  subject: string
  text: string
  html: string
  /** The same for all e-mails about one alert; null for one without a thread. */
  thread: string | null
}

interface ComposeOptions {
  publicUrl: string
  /** Epoch ms. */
  at: number
  /** For a digest: stops it for its one reader. */
  unsubscribeUrl?: string
}

const MAX_LINES = 100

export function composeEmail(message: Message | MessageGroup, options: ComposeOptions): EmailContent {
  const card = cardOf(message, options)
  const isDigest = message.kind === 'digest'
  return {
    subject: card.heading,
    text: isDigest ? digestText(message, options) : textOf(card),
    html: isDigest ? digestHtml(message, options) : htmlOf(card),
    thread: card.thread,
  }
}

function textOf(card: Card): string {
  const { shown, more } = linesWithin(card, MAX_LINES)
  const width = Math.max(0, ...card.facts.map(({ name }) => name.length)) + 2
  const sections = [
    [card.heading],
    [card.what, ...card.paragraphs],
    [...shown.map(({ tone, text }) => `${SHAPES[tone]} ${text}`), ...(more === null ? [] : [more])],
    card.facts.map(({ name, value }) => `${`${name}:`.padEnd(width)}${value}`),
    card.change === null ? [] : [card.change],
    [`${card.link.label}: ${card.link.url}`],
    card.footer === null ? [] : [card.footer],
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function htmlOf(card: Card): string {
  const { shown, more } = linesWithin(card, MAX_LINES)
  const lines = [
    ...shown.map(({ tone, text }) => lineOf(COLOURS[tone], SHAPES[tone], text)),
    ...(more === null ? [] : [escapeHtml(more)]),
  ]
  const rows = [
    block(`<strong style="font-size:18px;line-height:26px">${escapeHtml(card.what)}</strong>`),
    ...card.paragraphs.map(paragraph),
    ...(lines.length === 0 ? [] : [block(lines.join('<br>'))]),
    ...(card.facts.length === 0 ? [] : [factTable(card.facts)]),
    ...(card.change === null ? [] : [paragraph(card.change)]),
    button(card.link),
    ...(card.footer === null ? [] : [block(escapeHtml(card.footer), 'muted')]),
  ]
  return page(card.heading, COLOURS[card.tone], rows, previewOf(card))
}

const lineOf = (colour: string, shape: string, text: string): string =>
  `<span style="color:${colour}">${shape}</span> ${escapeHtml(text)}`

/** Sites in a digest; the dashboard shows the others, see `DIGEST_INCIDENTS`. */
const MAX_SITES = 100

const LINK = 'Open Tagwarden'

const UNSUBSCRIBE = 'Unsubscribe from these digests'

function digestText(digest: DigestMessage, { publicUrl, unsubscribeUrl }: ComposeOptions): string {
  const { sites } = digest
  const incidents = incidentsOf(digest)
  const lines = [
    digestHeading(digest),
    '',
    ...downInWords(digest).flatMap((sentence) => [sentence, '']),
    incidentsInWords(digest),
    ...incidents
      .slice(0, DIGEST_INCIDENTS)
      .flatMap((incident) => [`  ${incidentInWords(incident, digest)}`, `  ${incidentUrl(incident, publicUrl)}`]),
    ...moreOf(countsOf(digest).incidents, DIGEST_INCIDENTS, 'incidents'),
    ...sites
      .slice(0, MAX_SITES)
      .flatMap((site) => [
        '',
        defanged(oneLine(site.name)),
        `  Events: ${whole(site.events)}${inParentheses(trendOf(site))}`,
        `  Score:  ${scoreOf(site) ?? 'not enough data'}`,
        ...worseTagsOf(site).map((tag) => `  Worse:  ${tag}`),
      ]),
    ...moreOf(sites.length, MAX_SITES, 'sites').flatMap((more) => ['', more]),
    ...morningOf(digest).flatMap(({ title, lines: ofSection }) => [
      '',
      title,
      ...ofSection.slice(0, DIGEST_INCIDENTS).map((line) => `  ${line}`),
      ...moreOf(ofSection.length, DIGEST_INCIDENTS, 'entries'),
    ]),
    '',
    `${LINK}: ${publicUrl}`,
    ...(unsubscribeUrl === undefined ? [] : ['', `${UNSUBSCRIBE}: ${unsubscribeUrl}`]),
  ]
  return `${lines.join('\n')}\n`
}

function digestHtml(digest: DigestMessage, { publicUrl, unsubscribeUrl }: ComposeOptions): string {
  const { sites } = digest
  const incidents = incidentsOf(digest)
  const worse = sites.flatMap((site) =>
    site.worse_tags.map((tag) => [
      `${cut(defanged(oneLine(tag.tag_key)), 80)} on ${defanged(oneLine(site.name))}`,
      percent(tag.success_rate),
      percent(tag.success_rate_before),
    ]),
  )
  const rows = [
    ...downInWords(digest).map(paragraph),
    heading(incidentsInWords(digest)),
    ...incidents.slice(0, DIGEST_INCIDENTS).map((incident) => incidentHtml(incident, digest, publicUrl)),
    ...moreOf(countsOf(digest).incidents, DIGEST_INCIDENTS, 'incidents').map((more) => block(more)),
    dataTable(['Site', 'Events\nChange', 'Score'], sites.slice(0, MAX_SITES).map(siteCells)),
    ...moreOf(sites.length, MAX_SITES, 'sites').map((more) => block(more)),
    ...(worse.length === 0
      ? []
      : [heading('Tags that got worse'), dataTable(['Tag', 'Succeeded', 'Before'], worse.slice(0, MAX_SITES))]),
    ...moreOf(worse.length, MAX_SITES, 'tags').map((more) => block(more)),
    ...morningOf(digest).flatMap(({ title, lines }) => [
      heading(title),
      block(lines.slice(0, DIGEST_INCIDENTS).map(escapeHtml).join('<br>')),
      ...moreOf(lines.length, DIGEST_INCIDENTS, 'entries').map((more) => block(more)),
    ]),
    button({ label: LINK, url: publicUrl }),
    ...(unsubscribeUrl === undefined ? [] : [block(anchorTo(UNSUBSCRIBE, unsubscribeUrl), 'muted')]),
  ]
  return page(digestHeading(digest), COLOURS.neutral, rows, incidentsInWords(digest))
}

const siteCells = (site: DigestSite): string[] => [
  defanged(oneLine(site.name)),
  [whole(site.events), trendOf(site) ?? '–'].join('\n'),
  scoreOf(site)?.replace(' (', '\n(') ?? '–',
]

const inParentheses = (text: string | null): string => (text === null ? '' : ` (${text})`)

const moreOf = (count: number, max: number, what: string): string[] =>
  count > max ? [`and ${count - max} more ${what}`] : []

/** Returns `critical, shop.acme.com: Meta CAPI fails … (12 Nov 09:42 CET, unresolved; cause: new version)`. */
const incidentInWords = (incident: DigestIncident, digest: DigestMessage): string =>
  `${incident.severity}, ${siteIn(incident)}: ${titleIn(incident)} (${aboutIncident(incident, digest)})`

const siteIn = ({ site }: DigestIncident): string => defanged(oneLine(site))
const titleIn = ({ title }: DigestIncident): string => cut(defanged(oneLine(title)), 250)

const incidentUrl = ({ id }: DigestIncident, publicUrl: string): string =>
  `${publicUrl}/incidents/${encodeURIComponent(id)}`

function incidentHtml(incident: DigestIncident, digest: DigestMessage, publicUrl: string): string {
  const { severity } = incident
  const title = anchorTo(titleIn(incident), incidentUrl(incident, publicUrl))
  const about = `<span class="muted" style="color:#475569;font-size:13px">${escapeHtml(aboutIncident(incident, digest))}</span>`
  const badge = `<span style="color:${COLOURS[severity]};font-weight:600">${severity}</span>`
  return block(`${badge} ${escapeHtml(siteIn(incident))}: ${title}<br>${about}`)
}

const anchorTo = (text: string, url: string): string =>
  `<a href="${escapeHtml(url)}" style="color:inherit">${escapeHtml(text)}</a>`

/** A plain e-mail. Names in it may come from strangers, so only `link` and `footer.link` become links. */
interface Notice {
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
  const anchor = footer.link === undefined ? '' : ` ${anchorTo(footer.link.label, footer.link.url)}`
  return {
    subject: heading,
    text: `${[heading, shown.join('\n'), `${link.label}: ${link.url}`, `${footer.text}${end}`].join('\n\n')}\n`,
    html: page(
      heading,
      COLOURS.neutral,
      [...shown.map(paragraph), button(link), block(`${escapeHtml(footer.text)}${anchor}`, 'muted')],
      shown[0] ?? '',
    ),
  }
}

const safe = (text: string, max: number): string => cut(defanged(oneLine(text)), max)
