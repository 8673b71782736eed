import { Type } from 'typebox'
import { Allowance, errorResponses, type HttpApp, linkedEntries, NoContent, visibleTo } from '../../http/index.ts'
import type { Clock } from '../../lib/index.ts'
import { contextOf } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import { CreateSilence, SilenceParams, SilenceQuery, SilenceRecord, silenceRecord } from './schemas.ts'
import { createSilence, listSilences, removeSilence } from './silences.ts'

export interface SilenceRouteOptions {
  store: Store
  clock: Clock
}

const tags = ['Silences']
/**
 * Silences that one person may create in a minute: each adds an entry to the timeline of every open alert in it, and another at its
 * end.
 */
const PER_MINUTE = 60

/** Adds the routes of silences. */
export function silenceRoutes(app: HttpApp, options: SilenceRouteOptions): void {
  const { store, clock } = options
  const allowance = new Allowance(PER_MINUTE, 'silences', clock)

  app.get(
    '/api/silences',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List silences',
        description: 'Most recently created first. A `Link` header with `rel="next"` leads to older ones.',
        querystring: SilenceQuery,
        response: { 200: Type.Array(SilenceRecord, { description: 'Newest first' }) },
      },
    },
    async (request, reply) =>
      linkedEntries(request, reply, await listSilences(store, visibleTo(request.access), request.query, clock.now())),
  )

  app.post(
    '/api/silences',
    {
      config: { scope: 'named' },
      schema: {
        tags,
        summary: 'Create a silence',
        description:
          'Until `ends_at` no notifications are sent about a client, a site, a probe or an incident: give exactly one of the four. ' +
          'Probes and alerts continue; notifications about what is still bad at the end are sent then. 409 when the client has 500 that are not over, 429 after 60 in a minute.',
        body: CreateSilence,
        response: { 201: SilenceRecord, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      allowance.take(request.access.actor)
      const row = await createSilence(contextOf(options, request), request.body)
      return reply.code(201).send(silenceRecord(row, clock.now()))
    },
  )

  app.delete(
    '/api/silences/:silence_id',
    {
      schema: {
        tags,
        summary: 'Delete a silence',
        description: 'Ends it if it is active. Alerts that it muted still refer to it.',
        params: SilenceParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await removeSilence(contextOf(options, request), request.params.silence_id)
      return reply.code(204).send(null)
    },
  )
}
