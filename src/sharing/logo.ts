import { Type } from 'typebox'
import { errorResponses, etagOf, type HttpApp, matchesEtag } from '../http/index.ts'
import { notFound } from '../lib/index.ts'
import { clientOfStatusLink, readStatusLooks } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { StatusToken } from './status-page.ts'

const picture = { schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }) }

/** Public: the token of the status page is the key. Strangers may have made the picture: whatever is in it, it is a picture and nothing else. */
export function logoRoutes(app: HttpApp, { store }: { store: Store }): void {
  app.get(
    '/api/status/:token/logo',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Sharing'],
        summary: "The logo on a client's status page",
        description: 'Needs no other key. Supports `If-None-Match`.',
        security: [],
        params: Type.Object({ token: StatusToken }),
        response: {
          200: { description: 'A picture: PNG, JPEG or WebP', content: { 'image/*': picture } },
          304: Type.Null({ description: 'Unchanged since the answer with this `ETag`' }),
          ...errorResponses(404),
        },
      },
    },
    async (request, reply) => {
      const { id } = await clientOfStatusLink(store.read, request.params.token)
      const looks = await readStatusLooks(store.read, id)
      if (looks === undefined || looks.logo === null || looks.logo_type === null) throw notFound('Logo')
      const etag = etagOf(looks.logo)
      reply.headers({
        etag,
        'cache-control': 'private, max-age=300',
        // Opened directly it is a document of our origin. That it is never taken for anything else than its type says is true of all answers.
        'content-security-policy': "default-src 'none'; sandbox",
        'x-robots-tag': 'noindex, nofollow',
      })
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(null)
      return reply.type(looks.logo_type).send(Buffer.from(looks.logo, 'base64'))
    },
  )
}
