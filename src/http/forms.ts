import type { Static, TObject } from 'typebox'
import { codeOf } from '../lib/index.ts'
import { errorResponses, type HttpApp, NoContent } from './schemas.ts'

interface OneClick<P extends TObject> {
  /** Of the address in `List-Unsubscribe`, which is also that of the page that people open. Its last part is a secret. */
  path: string
  params: P
  summary: string
  /** What it does, in the document of the API. */
  effect?: string
  unsubscribe: (params: Static<P>) => Promise<void>
}

/**
 * Adds the route by which mail programs unsubscribe (RFC 8058). They send a form, which says nothing, so it has its own scope: no
 * other route takes forms.
 */
export function addOneClick<P extends TObject>(
  app: HttpApp,
  { path, params, summary, effect, unsubscribe }: OneClick<P>,
) {
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser(
      ['application/x-www-form-urlencoded', 'multipart/form-data'],
      { parseAs: 'string', bodyLimit: 4_096 },
      (_request, _body, read) => read(null),
    )
    scope.post(
      path,
      {
        // The secret is the credential, and no page can know it.
        config: { access: 'public', host: 'any' },
        schema: {
          tags: ['Sharing'],
          security: [],
          summary,
          description:
            'For mail programs (RFC 8058): the address in `List-Unsubscribe`, and the page that people open. Takes a form.' +
            (effect === undefined ? '' : ` ${effect}`),
          params,
          response: { 204: NoContent, ...errorResponses(400, 404, 413) },
        },
      },
      async (request, reply) => {
        await unsubscribe(request.params as Static<P>).catch((error) => {
          // Programs repeat it: when nothing is left to end, they are done.
          if (codeOf(error) !== 'not_found') throw error
        })
        return reply.code(204).send(null)
      },
    )
    done()
  })
}
