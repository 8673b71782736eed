import { Type } from 'typebox'
import { errorResponses, type HttpApp } from '../http/index.ts'
import type { Clock } from '../lib/index.ts'
import { clientOfStatusLink } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import type { SiteHealthCache } from './site-health.ts'
import { StatusPages } from './status-page.ts'
import { StatusPage } from './status-page-schemas.ts'

const Token = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The last part of the link' })

interface Options {
  store: Store
  siteHealth: SiteHealthCache
  clock: Clock
}

/** Public: the token is the key. */
export function statusPageRoutes(app: HttpApp, { store, siteHealth, clock }: Options): void {
  const pages = new StatusPages(store, siteHealth)
  app.get(
    '/api/status/:token',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Sharing'],
        summary: "A client's status page",
        description:
          'What `/status/{token}` shows; needs no other key. Up to 5 s old. A link that was revoked, and that of a client which ' +
          'is switched off, is answered like one that never was.',
        security: [],
        params: Type.Object({ token: Token }),
        response: { 200: StatusPage, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      // Looked up each time: a link that is revoked opens nothing from then on.
      const { id, name } = await clientOfStatusLink(store.read, request.params.token)
      reply.header('x-robots-tag', 'noindex, nofollow')
      return { name, ...(await pages.of(id, clock.now())) }
    },
  )
}
