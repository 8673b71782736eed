import { Type } from 'typebox'
import { EXPECTS, errorResponses, etagOf, type HttpApp, matchesEtag } from '../http/index.ts'
import { type Clock, isUuid } from '../lib/index.ts'
import { badge, LABEL_MAX } from './badge.ts'
import type { SiteHealthCache } from './site-health.ts'
import { beganAt } from './status-page.ts'

/** What it says where there is no site whose name it could bear. */
const OWN_LABEL = 'tagwarden'

const Label = Type.String({
  pattern: '\\S',
  maxLength: LABEL_MAX,
  [EXPECTS]: 'text that is not blank',
  description: "Instead of the site's name",
})

const image = (description: string) => ({ description, content: { 'image/svg+xml': { schema: Type.String() } } })
const { 400: refused, 500: failed, 503: unavailable } = errorResponses(400)

/** Public: anyone who knows the id of a site may see its status and since when, and nothing else of it. */
export function badgeRoutes(app: HttpApp, siteHealth: SiteHealthCache, clock: Clock): void {
  app.get(
    '/badge/:site_id.svg',
    {
      schema: {
        tags: ['Sharing'],
        summary: "A site's status as an image",
        description:
          'For wikis and read-me files; needs no key, as the id of a site cannot be guessed. Up to 5 s old, and caches may keep ' +
          'it for a minute. Supports `If-None-Match`.',
        security: [],
        // Any text, as what is no id is answered by an image, too.
        params: Type.Object({ site_id: Type.String({ description: 'UUID' }) }),
        querystring: Type.Object({ label: Type.Optional(Label) }, { additionalProperties: false }),
        response: {
          200: image('A small SVG image: name and status; its title also says since when there is trouble'),
          304: Type.Null({ description: 'Unchanged since the answer with this `ETag`' }),
          404: image('The same with `unknown`: no site has this id, or it or its client is switched off'),
          400: refused,
          500: failed,
          503: unavailable,
        },
      },
    },
    async (request, reply) => {
      const { site_id: id } = request.params
      const site = isUuid(id) ? (await siteHealth.get(clock.now())).get(id.toLowerCase()) : undefined
      const since = site === undefined ? null : beganAt(site.status, site.alerts)
      const svg = badge(request.query.label ?? site?.name ?? OWN_LABEL, site?.status ?? 'unknown', since)
      const etag = etagOf(svg)
      reply.headers({
        etag,
        'cache-control': 'public, max-age=60',
        // Opened directly it is a document of our origin.
        'content-security-policy': "default-src 'none'",
        // Pages of others show it.
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
