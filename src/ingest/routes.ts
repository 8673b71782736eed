import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Type } from 'typebox'
import { boundPipeline, type HttpApp, pathOf } from '../http/index.ts'
import { BatchPayload, EventPayload } from '../journal/index.ts'
import { INGEST_ERRORS, type IngestError } from './answers.ts'
import type { Ingest } from './service.ts'

/** The addresses of ingest: the published one, and that of a self-hosted instance. */
export const INGEST_PATHS: readonly string[] = ['/ingest', '/api/ingest']

/** Whether a request's target is one of them, with or without a trailing slash or a query, as the router would read it. */
function isIngestTarget(target: string): boolean {
  if (INGEST_PATHS.includes(target)) return true
  const path = pathOf(target)
  return INGEST_PATHS.includes(path.endsWith('/') ? path.slice(0, -1) : path)
}

/**
 * Answers ingest before the framework builds its request and reply, which would cost 4 to 6 % of all requests that a bare
 * `node:http` server can answer on one core. Other requests go to `handler`.
 *
 * @param cut ends a connection on which too many requests wait
 */
export function ingestFirst(ingest: Ingest, handler: RequestListener, cut: (socket: Socket) => void): RequestListener {
  const take = boundPipeline((request, response) => ingest.endpoint.handle(request, response), cut)
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== undefined && isIngestTarget(request.url)) take(request, response)
    else {
      ingest.endpoint.noteElsewhere(request)
      handler(request, response)
    }
  }
}

const WHEN: Record<IngestError, string> = {
  invalid_payload: 'Invalid JSON, or missing or wrong fields; the last refusals of a site are shown under `recent`',
  unauthorized: 'Key header missing or key invalid',
  forbidden: 'Key revoked, or site or client disabled',
  method_not_allowed: 'Not a POST',
  payload_too_large: 'Body larger than 1 MB',
  rate_limited:
    'Too many requests or bytes at once, or the monthly quota is used up; `Retry-After` says when to try again',
  internal_error: 'Not stored; the caller should retry',
  unavailable: 'More requests than can be answered soon; nothing was counted, `Retry-After` says when to try again',
}

/**
 * Declares the ingest routes. `ingestFirst` takes their requests before the framework sees them; one whose address only the
 * router can read reaches the same code through these.
 */
export function ingestRoutes(app: HttpApp, ingest: Ingest, keyHeaders: readonly string[]): void {
  const [keyHeader = 'x-service-key'] = keyHeaders
  const { method_not_allowed: _, ...ofPost } = INGEST_ERRORS
  const errors = Object.entries(ofPost).map(([error, status]) => [
    status,
    Type.Object({ error: Type.Literal(error) }, { description: WHEN[error as IngestError] }),
  ])
  for (const path of INGEST_PATHS) {
    app.route({
      method: 'POST',
      url: path,
      config: { access: 'public', host: 'any' },
      // The endpoint checks the body itself, after the key: the framework must neither read nor validate it.
      attachValidation: true,
      validatorCompiler: () => () => true,
      schema: {
        tags: ['Ingest'],
        summary: 'Receive one event, or a batch of counters',
        description: 'Answers 200 when the counts are on disk.',
        security: [],
        headers: Type.Object({
          [keyHeader]: Type.String({ description: "The site's ingest key" }),
          'idempotency-key': Type.Optional(
            Type.String({ maxLength: 128, description: 'Requests with the same key within 24 hours count once' }),
          ),
        }),
        body: Type.Union([EventPayload, BatchPayload]),
        response: {
          200: Type.Object({ status: Type.Literal('ok') }, { description: 'Committed' }),
          ...Object.fromEntries(errors),
        },
      },
      onRequest: (request, reply, _done) => {
        reply.hijack()
        ingest.endpoint.handle(request.raw, reply.raw)
      },
      handler: () => undefined,
    })
  }
}
