import { Type } from 'typebox'
import type { ChannelSettings } from '../alerts/index.ts'
import {
  type Access,
  type Credentials,
  type HttpApp,
  highestRole,
  keepHeaders,
  matchesEtag,
  sendJson,
  suffices,
  visibleTo,
} from '../http/index.ts'
import type { Clock } from '../lib/index.ts'
import { ProbeStates } from '../probes/index.ts'
import type { Store } from '../store/index.ts'
import { Overviews } from './overview.ts'
import { Overview } from './schemas.ts'
import { EventStream } from './stream.ts'

export interface DashboardOptions {
  store: Store
  clock: Clock
  /** Where messages go besides the clients' addresses. */
  channelSettings: ChannelSettings
  credentials: Pick<Credentials, 'accessesOf' | 'hasAccounts'>
  onError: (error: Error, loop: string) => void
}

const tags = ['Dashboard']

/** Some streams are reserved for those who may change something. */
const canChange = ({ grants }: Access): boolean => suffices(highestRole(grants), 'editor')

export function dashboardRoutes(
  app: HttpApp,
  { store, clock, channelSettings, credentials, onError }: DashboardOptions,
): void {
  const probes = new ProbeStates(store)
  const overviews = new Overviews({ store, probes, channelSettings })
  app.get(
    '/api/dashboard/overview',
    {
      config: { scope: 'visible', counts: 'all' },
      schema: {
        tags,
        summary: 'Read everything at a glance',
        description: 'Active clients with their sites, probe states and recent alerts. Supports `If-None-Match`.',
        response: {
          200: Overview,
          304: Type.Null({ description: 'Unchanged since the answer with this `ETag`' }),
        },
      },
    },
    async (request, reply) => {
      // The time of the answer is not part of the hash, so answers that differ in nothing else are the same.
      const { hash, json } = await overviews.answer(visibleTo(request.access), clock.now())
      const etag = `"${hash}"`
      reply.header('etag', etag).header('cache-control', 'private, no-cache')
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(null)
      return sendJson(reply, json())
    },
  )

  const stream = new EventStream({ store, clock, probes, credentials, onError })
  app.addHook('preClose', () => stream.stop())
  app.get(
    '/api/stream',
    {
      // A stream never ends, so HEAD could not be answered.
      exposeHeadRoute: false,
      config: { work: 'none', scope: 'visible' },
      schema: {
        tags,
        summary: 'Stream changes as they happen',
        description:
          'Server-sent events. `alive`: `{}`, at the start and after 25 seconds without another message. `ingest`: `{ sites: [{ id, last_event_at, events_5m }] }`, the sites that received data. ' +
          '`status`: `{ probes: [{ id, site_id, status }] }`, the probes whose status changed. ' +
          '`alerts`: `{ alerts: [{ id, client_id, site_id, probe_id, severity, state, title }] }`, the alerts that were opened, changed or resolved. ' +
          'Messages contain only what belongs to clients that the caller may see. They have no ids, and nothing is repeated: after a reconnect, read again what you show.',
        response: {
          200: { description: 'The stream', content: { 'text/event-stream': { schema: Type.String() } } },
        },
      },
    },
    ({ access, caller }, reply) => {
      stream.admit(caller, !canChange(access))
      keepHeaders(reply)
      reply.hijack()
      stream.add(reply.raw, { caller, access })
    },
  )
}
