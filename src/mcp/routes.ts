import { Type } from 'typebox'
import { errorResponses, type HttpApp } from '../http/index.ts'
import type { Clock } from '../lib/index.ts'
import { askFor, requireKnown } from './ask.ts'
import type { Answerer } from './server.ts'

interface Options {
  clock: Clock
  version: string
}

/** Longest message, bytes: a call of a tool takes hundreds. */
const MAX_MESSAGE_BYTES = 65_536

const AnyObject = Type.Unsafe<Buffer>({ type: 'object', additionalProperties: true })

/** The `error` of JSON-RPC is an object; a body that is not JSON is answered as elsewhere in the API. */
const jsonRpcError = (description: string) => ({ description, content: { 'application/json': { schema: AnyObject } } })

/** Adds `/mcp`, where AI assistants call tools (Model Context Protocol, streamable HTTP without sessions). */
export function mcpRoutes(app: HttpApp, options: Options): void {
  // Loaded with the first call: the library takes 25 MB and a third of a second, and most installations never use it.
  let answerer: Promise<Answerer> | undefined

  app.post(
    '/mcp',
    {
      // It waits for calls that take slots of their own.
      config: { work: 'none', pages: 'own' },
      bodyLimit: MAX_MESSAGE_BYTES,
      // Before the body is read.
      onRequest: async (request) => requireKnown(askFor(app, request)),
      schema: {
        tags: ['Service'],
        summary: 'Call tools from an AI assistant',
        description:
          'Model Context Protocol: one JSON-RPC message per request, revisions 2026-07-28 and 2025-11-25, without sessions. Each tool answers ' +
          'like the routes that it calls, for the same key.',
        body: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
        response: {
          200: {
            description: 'A JSON-RPC response, for older revisions as an event stream with one event',
            content: {
              'application/json': { schema: AnyObject },
              'text/event-stream': { schema: Type.Unsafe<Buffer>({ type: 'string' }) },
            },
          },
          202: Type.Null({ description: 'To a notification' }),
          ...errorResponses(413),
          400: jsonRpcError('Not a JSON-RPC message'),
          406: jsonRpcError('`Accept` must name `application/json` and `text/event-stream`'),
          415: jsonRpcError('The `Content-Type` must be `application/json`'),
        },
      },
    },
    async (request, reply) => {
      answerer ??= loadAnswerer(options)
      const answer = await (await answerer)(request, askFor(app, request))
      if (answer.type !== null) reply.type(answer.type)
      return reply
        .code(answer.status as 200)
        .headers(answer.headers)
        .send(Buffer.from(answer.text))
    },
  )

  // Older revisions have streams and sessions, which are not offered: their clients work without.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    config: { work: 'none' },
    schema: { hide: true },
    handler: (_request, reply) =>
      reply
        .code(405)
        .header('allow', 'POST')
        .send({ jsonrpc: '2.0', error: { code: -32_000, message: 'Method not allowed: post each message' }, id: null }),
  })
}

async function loadAnswerer(options: Options): Promise<Answerer> {
  const { createAnswerer } = await import('./server.ts')
  return createAnswerer(options)
}
