import { Type } from 'typebox'
import type { ReportContext } from '../analytics/index.ts'
import { errorResponses, type HttpApp, NoContent } from '../http/index.ts'
import { floorTo, HOUR, invalidRequest } from '../lib/index.ts'
import { contextOf, requireSite } from '../management/index.ts'
import { hourRowsFrom, type Retention } from '../rollups/index.ts'
import type { Store } from '../store/index.ts'
import { countsOfCsv, type HourBounds, ROWS_MAX, settledCounts } from './given-counts.ts'
import { deleteSource, EVENTS_MAX, listReferences, SOURCES_MAX, writeReferenceCounts } from './reference-counts.ts'
import { reconcile } from './report.ts'
import {
  AddedRecord,
  AddQuery,
  AddReferenceCounts,
  addedRecord,
  DEFAULT_DAYS,
  ReconciliationAnswer,
  ReconciliationQuery,
  ReferenceRecord,
  reconciliationAnswer,
  referenceRecord,
  SiteParams,
  SourceParams,
} from './schemas.ts'
import { MOST_SHIFT_HOURS } from './time-shift.ts'

const tags = ['Reference counts']
const path = '/api/sites/:site_id/reference-counts'
/** These calls may read a lot of rows. */
const config = { work: 'report' } as const

export interface ReconciliationOptions extends ReportContext {
  store: Store
}

/** Adds the calls for what other systems counted of a site's events, and for how our counts compare. */
export function reconciliationRoutes(app: HttpApp, options: ReconciliationOptions): void {
  // A scope of its own, so that no other call takes CSV. A form on another origin cannot send CSV without a CORS preflight.
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body))
    addRoute(scope as HttpApp, options)
    done()
  })
  readRoutes(app, options)
}

function addRoute(app: HttpApp, options: ReconciliationOptions): void {
  app.post(
    path,
    {
      schema: {
        tags,
        summary: 'Add reference counts',
        description:
          "Hourly counts of the site's events by another system, such as the shop. A count of the same source, event and hour is " +
          'replaced, so the same data can be sent again. If any count is faulty, nothing is written. As CSV: a header line `source,event,hour,count`, or the ' +
          `source as a parameter; faults name their line. At most ${ROWS_MAX} counts per call, ${SOURCES_MAX} sources per site and ` +
          `${EVENTS_MAX} events per source; they are deleted together with the site's own counts of the same time.`,
        params: SiteParams,
        querystring: AddQuery,
        body: {
          content: {
            'application/json': { schema: AddReferenceCounts },
            'text/csv': { schema: Type.String({ description: 'Commas or semicolons, UTF-8' }) },
          },
        },
        response: {
          200: Type.Array(AddedRecord, { description: 'What was written, by source' }),
          ...errorResponses(404, 409),
        },
      },
    },
    async (request) => {
      const { body, params, query } = request
      const ctx = contextOf(options, request)
      const bounds = boundsAt(ctx.clock.now(), options.retention)
      const counts =
        typeof body === 'string'
          ? countsOfCsv(body, query.source, bounds)
          : settledCounts(jsonCounts(body as AddReferenceCounts | null | undefined, query.source), bounds)
      return (await writeReferenceCounts(ctx, params.site_id, counts)).map(addedRecord)
    },
  )
}

/** @param body not checked by the schema when the request has no body, which Fastify then reads as undefined or null */
function jsonCounts(body: AddReferenceCounts | null | undefined, source: string | undefined) {
  if (body === undefined || body === null) throw invalidRequest('', 'is missing: send counts as JSON or CSV')
  const { counts } = body
  if (source !== undefined)
    throw invalidRequest('/source', 'is a parameter for CSV only: in JSON each count has its own source')
  return counts
}

const boundsAt = (now: number, retention: Retention): HourBounds => ({
  first: hourRowsFrom(now, retention),
  // A source that sends local time as UTC should be detected, not refused.
  last: floorTo(now, HOUR) + MOST_SHIFT_HOURS * HOUR,
  days: retention.hourDays,
})

function readRoutes(app: HttpApp, options: ReconciliationOptions): void {
  const { store } = options

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        summary: "List a site's reference counts",
        description: 'The hours and the total of each source and event.',
        params: SiteParams,
        response: { 200: Type.Array(ReferenceRecord, { description: 'By source and event' }), ...errorResponses(404) },
      },
    },
    async ({ params: { site_id } }) => {
      const { site_no } = await requireSite(store.read, site_id)
      return (await listReferences(store.interactive, site_no)).map(referenceRecord)
    },
  )

  app.delete(
    `${path}/:source`,
    {
      schema: {
        tags,
        summary: "Delete a source's reference counts",
        description: 'For all its events and hours.',
        params: SourceParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await deleteSource(contextOf(options, request), request.params.site_id, request.params.source)
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/api/sites/:site_id/reconciliation',
    {
      config: { ...config, counts: 'site' },
      schema: {
        tags,
        summary: 'Compare counts with those of a source',
        description:
          "For each day in the site's time zone: what the source counted of an event, what was counted here in the same hours, and the share. " +
          'Hours for which the source reported nothing, and hours in which this service was down or the site was paused, are left out of both. `shift` is the number of hours by which ' +
          "the source's hours are off, if that is clear.",
        params: SiteParams,
        querystring: ReconciliationQuery,
        response: { 200: ReconciliationAnswer, ...errorResponses(404) },
      },
    },
    async ({ params: { site_id }, query: { source, event, days = DEFAULT_DAYS } }) => {
      const site = await requireSite(store.read, site_id)
      const context = { ...options, store: { read: store.read, reports: store.interactive } }
      return reconciliationAnswer(site, { source, event }, await reconcile(context, site, { source, event }, days))
    },
  )
}
