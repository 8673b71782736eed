import { Type } from 'typebox'
import type { Status } from '../dashboard/index.ts'
import { errorResponses, etagOf, type HttpApp, matchesEtag } from '../http/index.ts'
import { type Clock, isoTime, isUuid, printable, shortened, svgText } from '../lib/index.ts'
import { ONE_LINE } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { maintenanceAhead } from './history.ts'
import { KeptPages, type SiteHealthCache } from './site-health.ts'
import { beganAt, duringWork } from './status-page.ts'

/** The longest label, in characters; names are cut to it. */
export const LABEL_MAX = 40

const HEIGHT = 20
const FONT_SIZE = 11
/** Space between an edge and what is beside it, px. */
const PAD = 6
const MARK = 12
const BASELINE = 14

/** Backgrounds that give white text a contrast of at least 4.5:1. They are part of the badge, so it can be put on any page. */
const LABEL_GROUND = '#3e4a58'
const GROUNDS: Readonly<Record<Status, string>> = {
  ok: '#17734a',
  warning: '#8a5600',
  critical: '#b42420',
  error: '#6a3fc0',
  unknown: '#53606f',
}

/** The dashboard's marks in a square of 12 px, so that status is never shown by colour alone. */
const MARKS: Readonly<Record<Status, string>> = {
  ok: '<circle cx="6" cy="6" r="4.5"/>',
  warning: '<path d="M6 1.5 11 10.5H1Z"/>',
  critical: '<rect x="2" y="2" width="8" height="8"/>',
  error: '<path d="M6 1 11 6 6 11 1 6Z"/>',
  unknown: '<circle cx="6" cy="6" r="3.75" fill="none" stroke="#fff" stroke-width="2"/>',
}

/**
 * Returns a status as a small SVG image that loads nothing and holds no script.
 *
 * @param since when the problem began (epoch ms), for the title; null without a problem, or when unknown
 * @param workEndsAt when the current maintenance ends (epoch ms), likewise
 */
export function badge(
  label: string,
  status: Status,
  since: number | null = null,
  workEndsAt: number | null = null,
): string {
  const shown = shortened(printable(label), LABEL_MAX)
  const labelWidth = textWidth(shown, FONT_SIZE)
  const wordWidth = textWidth(status, FONT_SIZE)
  const split = Math.ceil(labelWidth + 2 * PAD)
  const width = Math.ceil(split + PAD + MARK + PAD / 2 + wordWidth + PAD)
  const began = since === null ? '' : ` since ${minuteOf(since)}`
  const work = workEndsAt === null ? '' : `, under maintenance until ${minuteOf(workEndsAt)}`
  const title = svgText(`${shown}: ${status}${began}${work}`)
  const text = (x: number, length: number, content: string) =>
    `<text x="${x}" y="${BASELINE}" textLength="${length.toFixed(1)}">${content}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    // No ids: several badges may be pasted into one page.
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

const minuteOf = (time: number): string => `${isoTime(time).slice(0, 16).replace('T', ' ')} UTC`

/** Verdana's advance widths from the space on, in thousandths of the font size. Browsers have Verdana or a font as wide. */
const ASCII = [
  352, 394, 459, 818, 636, 1076, 727, 269, 454, 454, 636, 818, 364, 454, 364, 454, 636, 636, 636, 636, 636, 636, 636,
  636, 636, 636, 454, 454, 818, 818, 818, 545, 1000, 684, 686, 698, 771, 632, 575, 775, 751, 421, 455, 693, 557, 843,
  748, 787, 603, 787, 695, 684, 616, 732, 684, 989, 685, 615, 685, 454, 454, 454, 818, 636, 636, 601, 623, 521, 623,
  596, 352, 623, 633, 274, 344, 592, 274, 973, 633, 607, 623, 623, 427, 521, 394, 633, 592, 818, 592, 592, 525, 635,
  454, 635, 818,
]
/** Characters as wide as they are high: East Asian scripts and pictographs. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u
/** Characters drawn over the one before, or not at all. */
const WITHOUT_WIDTH = /[\p{M}\p{Cf}]/u
/** The average width of other letters. */
const OTHER = 680

/**
 * Returns the width of a text, px. The badge forces it on the browser (`textLength`): with another font the gaps between letters
 * differ, but not the badge.
 *
 * @param size of the font, px
 */
export function textWidth(text: string, size: number): number {
  const thousandths = [...text.normalize('NFC')].reduce((sum, letter) => sum + widthOf(letter), 0)
  return (thousandths * size) / 1_000
}

function widthOf(letter: string): number {
  // Decomposed, é is an e and an accent.
  const known = ASCII[(letter.normalize('NFD').codePointAt(0) ?? 0) - 32]
  if (known !== undefined) return known
  if (WITHOUT_WIDTH.test(letter)) return 0
  return WIDE.test(letter) ? 1_000 : OTHER
}

/** The label when there is no site to name. */
const OWN_LABEL = 'tagwarden'

const Label = Type.String({
  ...ONE_LINE,
  maxLength: LABEL_MAX,
  description: "Text to show instead of the site's name",
})

const image = (description: string) => ({ description, content: { 'image/svg+xml': { schema: Type.String() } } })
const { 400: refused, 500: failed, 503: unavailable } = errorResponses(400)

interface BadgeOptions {
  store: Pick<Store, 'read'>
  siteHealth: SiteHealthCache
  clock: Clock
}

/** Adds the public route of badges: anyone who knows a site's id may see its status and since when, and nothing else. */
export function badgeRoutes(app: HttpApp, { store, siteHealth, clock }: BadgeOptions): void {
  const planned = new KeptPages((clientId) => async (now) => {
    const sites = [...(await siteHealth.get(now)).values()].filter((site) => site.clientId === clientId)
    return maintenanceAhead(store.read, clientId, sites, now)
  })
  app.get(
    '/badge/:site_id.svg',
    {
      schema: {
        tags: ['Sharing'],
        summary: "Read a site's status as an image",
        description:
          'For wikis and README files. Requires no key, because the id of a site cannot be guessed. Up to 5 s old, and caches may keep ' +
          'it for a minute. Supports `If-None-Match`.',
        security: [],
        // Any text, because what is not an id is answered with an image too.
        params: Type.Object({ site_id: Type.String({ description: 'UUID' }) }),
        querystring: Type.Object({ label: Type.Optional(Label) }, { additionalProperties: false }),
        response: {
          200: image(
            'A small SVG image with name and status; its title also states since when there is a problem, and until when maintenance lasts',
          ),
          304: Type.Null({ description: 'Unchanged since the answer with this `ETag`' }),
          404: image('The same image with `unknown`: no site has this id, or the site or its client is paused'),
          400: refused,
          500: failed,
          503: unavailable,
        },
      },
    },
    async (request, reply) => {
      const { site_id: id } = request.params
      const now = clock.now()
      const found = isUuid(id) ? (await siteHealth.get(now)).get(id.toLowerCase()) : undefined
      const site = found && duringWork(found, await planned.of(found.clientId, now), now)
      const since = site === undefined ? null : beganAt(site.status, site.alerts)
      const svg = badge(
        request.query.label ?? site?.name ?? OWN_LABEL,
        site?.status ?? 'unknown',
        since,
        site?.workEndsAt,
      )
      const etag = etagOf(svg)
      reply.headers({
        etag,
        'cache-control': 'public, max-age=60',
        // When opened directly, it is a document of our origin.
        'content-security-policy': "default-src 'none'",
        // Other sites embed it.
        'cross-origin-resource-policy': 'cross-origin',
      })
      const isKnown = site !== undefined
      if (isKnown && matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(null)
      return reply
        .code(isKnown ? 200 : 404)
        .type('image/svg+xml; charset=utf-8')
        .send(svg)
    },
  )
}
