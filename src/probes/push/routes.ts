import { Type } from 'typebox'
import { errorResponses, type HttpApp } from '../../http/index.ts'
import type { Clock } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import { PUSH_STATUSES } from './judge.ts'
import { MESSAGE_MAX, readCall } from './said.ts'
import { PushLimits, takePush } from './take.ts'

interface Options {
  store: Store
  clock: Clock
}

/** Jobs send their output, of which about the last line is kept. */
const BODY_MAX_BYTES = 65_536

const Token = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'Token of the probe' })
const Signal = Type.String({
  pattern: '^(?:fail|start|[0-9]{1,3})$',
  description: '`fail`, `start`, or the exit status of a program; any other than 0 is `critical`',
})
const Taken = Type.Object({ status: Type.Literal('ok') }, { description: 'The call was recorded' })

/** Accepts unknown parameters, which jobs send for other services. */
const Query = Type.Object({
  status: Type.Optional(
    Type.String({ description: `${PUSH_STATUSES.join(', ')}; also \`up\` and \`down\`. Default ok`, maxLength: 20 }),
  ),
  message: Type.Optional(
    Type.String({ description: `Message for people: one line, cut to ${MESSAGE_MAX} characters` }),
  ),
  msg: Type.Optional(Type.String({ description: 'The same' })),
  ping: Type.Optional(Type.String({ description: 'Duration of the job in ms' })),
})

/**
 * Adds the routes that jobs call, on every node of any role. They have their own scope because a body may be anything: program output has
 * no content type. Accepting simple types is safe here, as a foreign page that knew an address could do no more than the job.
 */
export function pushRoutes(app: HttpApp, options: Options): void {
  const limits = new PushLimits(options.clock)
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    const asText = { parseAs: 'string', bodyLimit: BODY_MAX_BYTES } as const
    for (const type of ['*', 'application/json']) {
      scope.addContentTypeParser(type, asText, (_request, body, parsed) => parsed(null, body))
    }
    addRoutes(scope as HttpApp, options, limits)
    done()
  })
}

function addRoutes(app: HttpApp, { store, clock }: Options, limits: PushLimits): void {
  for (const { path, params, also } of [
    { path: '/push/:token', params: Type.Object({ token: Token }), also: '' },
    {
      path: '/push/:token/:signal',
      params: Type.Object({ token: Token, signal: Signal }),
      also: ' What follows the token takes precedence over `status`.',
    },
  ]) {
    for (const method of ['GET', 'POST'] as const) {
      app.route({
        method,
        url: path,
        // The token is the credential, and no page can know it.
        config: { access: 'public', host: 'any' },
        schema: {
          tags: ['Push'],
          security: [],
          summary: 'Call a push probe',
          description: `A job says that it ran.${also} ${
            method === 'GET'
              ? 'HEAD does the same.'
              : 'A body may hold `status` and `message` as JSON or as a form; any other text is the message.'
          } 404 when the address does not work (any more); 429 for more than ten calls at once and one a second.`,
          params,
          querystring: Query,
          response: { 200: Taken, ...errorResponses(400, 404, 413) },
        },
        handler: async (request) => {
          const { token, signal } = request.params as { token: string; signal?: string }
          const said = readCall({
            signal,
            query: request.query as Readonly<Record<string, unknown>>,
            body: typeof request.body === 'string' ? request.body : undefined,
            contentType: request.headers['content-type'] ?? '',
          })
          await takePush(store, limits, { token, caller: request.caller, now: clock.now() }, said)
          return { status: 'ok' as const }
        },
      })
    }
  }
}
