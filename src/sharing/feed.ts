import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { errorResponses, etagOf, type HttpApp, matchesEtag } from '../http/index.ts'
import { type Clock, DAY, floorTo, isoTime, svgText } from '../lib/index.ts'
import { clientOfStatusLink } from '../management/index.ts'
import { LocalTimes } from '../notifications/index.ts'
import type { Store } from '../store/index.ts'
import type { PastIncident } from './history.ts'
import { type StatusPages, StatusToken } from './status-page.ts'

interface Options {
  store: Store
  pages: StatusPages
  clock: Clock
  /** Without a trailing slash; null when not set: entries then have no link. */
  publicUrl: string | null
}

const tag = (name: string, text: string, attributes = ''): string => `<${name}${attributes}>${svgText(text)}</${name}>`

/**
 * Returns a client's incidents as an Atom feed (RFC 4287), the newest first. Names and titles come from strangers, so they are
 * escaped as plain text.
 *
 * @param id an IRI that never changes
 * @param links addresses of the status page and of the feed itself, or null
 * @param emptyAt `updated` of a feed without incidents, epoch ms
 */
export function atomFeed(
  name: string,
  id: string,
  incidents: readonly PastIncident[],
  links: { page: string; self: string } | null,
  emptyAt: number,
): string {
  const changedAt = ({ opened_at, resolved_at, back_at }: PastIncident) => resolved_at ?? back_at ?? opened_at
  const updated = incidents.map(changedAt).toSorted().at(-1) ?? isoTime(emptyAt)
  const link = (address: string, rel = 'alternate', type = 'text/html') =>
    `<link rel="${rel}" type="${type}" href="${svgText(address)}"/>`
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    tag('title', `Status of ${name}`, ' type="text"'),
    tag('id', id),
    tag('updated', updated),
    `<author>${tag('name', 'Tagwarden')}</author>`,
    ...(links === null ? [] : [link(links.page), link(links.self, 'self', 'application/atom+xml')]),
    ...incidents.map((incident) =>
      [
        '<entry>',
        tag(
          'title',
          `${incident.resolved_at === null ? '' : 'Resolved: '}${incident.site}: ${incident.title}`,
          ' type="text"',
        ),
        tag('id', `urn:uuid:${incident.id}`),
        tag('published', incident.opened_at),
        tag('updated', changedAt(incident)),
        tag('summary', summaryOf(incident), ' type="text"'),
        ...(links === null ? [] : [link(`${links.page}/incidents/${incident.id}`)]),
        '</entry>',
      ].join('\n'),
    ),
    '</feed>\n',
  ].join('\n')
}

/** Returns the feed's id. It holds neither the client's id nor the token, because feed readers pass it on. */
const feedId = (token: string): string =>
  `urn:tagwarden:status:${createHash('sha256').update(token).digest('hex').slice(0, 32)}`

/** Times have their day, as readers come across an entry on any. */
function summaryOf({ severity, timezone, started_at, resolved_at, back_at }: PastIncident): string {
  const times = new LocalTimes(timezone)
  const began = Date.parse(started_at)
  const on = `${times.day(began)},`
  if (resolved_at !== null) return `Resolved: ${severity} ${on} ${times.span(began, Date.parse(resolved_at), began)}`
  const again = back_at === null ? '' : `, open again since ${times.moment(Date.parse(back_at), began)}`
  return `${severity} since ${on} ${times.moment(began, began)}${again}`
}

/** Adds the public route of feeds: the status page's token is the key. */
export function feedRoutes(app: HttpApp, { store, pages, clock, publicUrl }: Options): void {
  app.get(
    '/api/status/:token/feed.atom',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Sharing'],
        summary: "Read the incidents of a client's sites as an Atom feed",
        description:
          'What the status page lists for the last 90 days; requires no other key. Supports `If-None-Match`.',
        security: [],
        params: Type.Object({ token: StatusToken }),
        response: {
          200: { description: 'An Atom feed', content: { 'application/atom+xml': { schema: Type.String() } } },
          304: Type.Null({ description: 'Unchanged since the answer with this `ETag`' }),
          ...errorResponses(404),
        },
      },
    },
    async (request, reply) => {
      const { token } = request.params
      const { id, name } = await clientOfStatusLink(store.read, token)
      const now = clock.now()
      const { incidents } = await pages.of(id, now)
      const links =
        publicUrl === null
          ? null
          : { page: `${publicUrl}/status/${token}`, self: `${publicUrl}/api/status/${token}/feed.atom` }
      const feed = atomFeed(name, feedId(token), incidents, links, floorTo(now, DAY))
      const etag = etagOf(feed)
      reply.headers({
        etag,
        'cache-control': 'private, max-age=60',
        'content-security-policy': "default-src 'none'",
      })
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(null)
      return reply.type('application/atom+xml; charset=utf-8').send(feed)
    },
  )
}
