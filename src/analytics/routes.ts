import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { errorResponses, type HttpApp, Uuid } from '../http/index.ts'
import { csvField, fileNamePart, isoTime } from '../lib/index.ts'
import { requireSite } from '../management/index.ts'
import {
  FieldsAnswer,
  fieldsAnswer,
  MarkersAnswer,
  MatrixAnswer,
  markersAnswer,
  matrixAnswer,
  OverviewAnswer,
  overviewAnswer,
  RecentAnswer,
  recentAnswer,
  TagAnswer,
  TimeseriesAnswer,
  tagAnswer,
  timeseriesAnswer,
} from './answers.ts'
import { markers } from './markers.ts'
import { matrix } from './matrix.ts'
import { overview } from './overview.ts'
import { ownFields } from './own-fields.ts'
import { recent } from './recent.ts'
import type { ReportContext } from './snapshot.ts'
import { tag } from './tag-report.ts'
import { type Timeseries, timeseries } from './timeseries/index.ts'
import { TimeseriesParams, timeseriesQuery } from './timeseries/plan.ts'
import { RANGE_PARAMS, rangeQuery } from './window.ts'

const tags = ['Reports']
/** Counted as reports, because they take longer the larger their window is. */
const config = { work: 'report', counts: 'site' } as const
const strict = { additionalProperties: false } as const

const SiteParams = Type.Object({ site_id: Uuid })

const TagParams = Type.Object({
  site_id: Uuid,
  tag_key: Type.String({
    minLength: 1,
    description: "The tag's key, percent-encoded: its name, an older name of it, or `tag_<id>`",
  }),
})

const WindowQuery = Type.Object(RANGE_PARAMS, strict)

const OverviewParams = Type.Object(
  {
    ...RANGE_PARAMS,
    compare: Type.Optional(
      Type.Enum(['previous'], { description: 'Adds the window of equal length immediately before as `previous`' }),
    ),
  },
  strict,
)

const path = '/api/monitoring/sites/:site_id'

const WINDOW_TEXT =
  'The window is `from` to `to`, `from` until now, or the last `hours`. The answer states the window that it covers: whole ' +
  'minutes, and whole hours where minutes are no longer kept.'

/** Adds the reports on what ingest received. */
export function analyticsRoutes(app: HttpApp, context: ReportContext): void {
  const siteOf = ({ site_id }: { site_id: string }) => requireSite(context.store.read, site_id)

  app.get(
    `${path}/overview`,
    {
      config,
      schema: {
        tags,
        summary: 'Read what a site sent',
        description:
          'Totals, events, tags, presence of user and e-commerce data, score, rejections and warnings of a window, and ' +
          `the containers that have ever sent data. ${WINDOW_TEXT}`,
        params: SiteParams,
        querystring: OverviewParams,
        response: { 200: OverviewAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, query }) => {
      const { compare, ...window } = query
      const requested = { ...rangeQuery(window), ...(compare === undefined ? {} : { compare }) }
      return overviewAnswer(await overview(context, await siteOf(params), requested))
    },
  )

  app.get(
    `${path}/timeseries`,
    {
      config,
      schema: {
        tags,
        summary: 'Read a metric over time',
        description:
          'One point per bucket, also for empty ones: 0 for counts, null for rates, times and scores. Hours and days are ' +
          "those of the site's time zone; the first and last bucket count only what lies within the window. Executions and " +
          'failures by event are known per UTC hour, of per-event payloads only, and belong to the bucket in which the ' +
          `hour starts. ${WINDOW_TEXT}`,
        params: SiteParams,
        querystring: TimeseriesParams,
        response: { 200: TimeseriesAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, query }) =>
      timeseriesAnswer(await timeseries(context, await siteOf(params), timeseriesQuery(query))),
  )

  app.get(
    `${path}/export.csv`,
    {
      config,
      schema: {
        tags,
        summary: 'Download a metric over time as CSV',
        description: 'The points of the time series with the same parameters: `t,key,value`, one line per point.',
        params: SiteParams,
        querystring: TimeseriesParams,
        response: {
          200: {
            description: 'CSV with a header line',
            content: { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
          },
          ...errorResponses(404),
        },
      },
    },
    async ({ params, query }, reply) => {
      const site = await siteOf(params)
      const report = await timeseries(context, site, timeseriesQuery(query))
      reply.type('text/csv; charset=utf-8')
      reply.header('content-disposition', `attachment; filename="${csvFileName(site.name, report)}"`)
      return reply.send(await timeseriesCsv(report))
    },
  )

  app.get(
    `${path}/tags/:tag_key`,
    {
      config,
      schema: {
        tags,
        summary: 'One tag',
        description:
          'Outcomes and execution times of a tag, and outcomes by event (per-event payloads only, over the whole ' +
          `hours in \`events_window\`). 404 if it did not run in the window. ${WINDOW_TEXT}`,
        params: TagParams,
        querystring: WindowQuery,
        response: { 200: TagAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, query }) => tagAnswer(await tag(context, await siteOf(params), params.tag_key, rangeQuery(query))),
  )

  app.get(
    `${path}/matrix`,
    {
      config,
      schema: {
        tags,
        summary: 'Read which tags ran on which events',
        description:
          'Executions and failures by event and tag; per-event payloads only. Events and tags with the ' +
          'most executions come first. Covers the whole UTC hours that the window touches, and whole local days more than nine ' +
          'weeks ago.',
        params: SiteParams,
        querystring: WindowQuery,
        response: { 200: MatrixAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, query }) => matrixAnswer(await matrix(context, await siteOf(params), rangeQuery(query))),
  )

  app.get(
    `${path}/fields`,
    {
      config,
      schema: {
        tags,
        summary: 'List custom parameters by event',
        description:
          'How often each custom parameter was present, by event, among the events that report it; batches report them ' +
          `without an event. Empty if no sender reports any. ${WINDOW_TEXT}`,
        params: SiteParams,
        querystring: WindowQuery,
        response: { 200: FieldsAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, query }) => fieldsAnswer(await ownFields(context, await siteOf(params), rangeQuery(query))),
  )

  app.get(
    `${path}/recent`,
    {
      schema: {
        tags,
        summary: 'Read what arrived recently',
        description:
          'The last 50 accepted payloads (flags and counters only) and the last 50 rejections, newest first; with a window ' +
          'those in it.',
        params: SiteParams,
        querystring: WindowQuery,
        response: { 200: RecentAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, query }) => recentAnswer(await recent(context, await siteOf(params), rangeQuery(query))),
  )

  app.get(
    `${path}/markers`,
    {
      schema: {
        tags,
        summary: 'List versions that were deployed',
        description:
          'Changes of version that probes saw in the window, oldest first; if there are more than 200, the latest. Charts mark them.',
        params: SiteParams,
        querystring: WindowQuery,
        response: { 200: MarkersAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, query }) => markersAnswer(await markers(context, await siteOf(params), rangeQuery(query))),
  )
}

/**
 * A timeseries as CSV text, one line per point: `t,key,value`, empty where there is no value. Keys come from any sender of
 * events, so a key that a spreadsheet would run as a formula is escaped.
 */
async function timeseriesCsv(report: Timeseries): Promise<Readable> {
  const { stringify } = await import('csv-stringify')
  const lines = stringify({
    header: true,
    columns: ['t', 'key', 'value'],
    escape_formulas: true,
    cast: { string: csvField },
  })
  return Readable.from(points(report)).pipe(lines)
}

function* points({ series }: Timeseries): Generator<[t: string, key: string, value: number | null]> {
  for (const { key, points: ofKey } of series) {
    for (const { t, value } of ofKey) yield [isoTime(t), key, value]
  }
}

/** A file name that every system accepts: `my-shop-events-2026-11-20.csv`. */
function csvFileName(siteName: string, report: Timeseries): string {
  const day = isoTime(report.from).slice(0, 'yyyy-mm-dd'.length)
  return `${[fileNamePart(siteName, 'site'), report.metric, day].join('-')}.csv`
}
