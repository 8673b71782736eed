import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { errorResponses, type HttpApp, NoContent, seesSecrets } from '../http/index.ts'
import type { SiteRow } from '../store/index.ts'
import { contextOf, type ManagementOptions } from './context.ts'
import {
  CreateSite,
  CreateSiteQuery,
  SiteParams,
  SiteQuery,
  SiteRecord,
  siteRecord,
  UpdateSite,
  withoutSecrets,
} from './site-schemas.ts'
import { createSite, getSite, lastEventAt, listSites, removeSite, revokeKey, updateSite } from './sites.ts'
import { ingestEndpoint, tagTemplate, templateFileName } from './tag-template.ts'

const tags = ['Sites']
const path = '/api/sites/:site_id'

const shownTo = ({ access }: FastifyRequest, record: SiteRecord): SiteRecord =>
  seesSecrets(access) ? record : withoutSecrets(record)

export function siteRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store } = options

  const recordFor = async (request: FastifyRequest, row: SiteRow): Promise<SiteRecord> =>
    shownTo(request, siteRecord(row, await lastEventAt(store.read, row.site_no)))

  app.get(
    '/api/sites',
    {
      schema: {
        tags,
        summary: 'List sites',
        description: 'Sites of one client or of all. `active_only` keeps the active sites of active clients.',
        querystring: SiteQuery,
        response: { 200: Type.Array(SiteRecord, { description: 'Oldest first' }), ...errorResponses(400) },
      },
    },
    async (request) => {
      const records = await listSites(store, request.query)
      return records.map((record) => shownTo(request, record))
    },
  )

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read a site',
        description: 'One site with its ingest key. Viewers do not see the key.',
        params: SiteParams,
        response: { 200: SiteRecord, ...errorResponses(404) },
      },
    },
    async (request) => shownTo(request, await getSite(store, request.params.site_id)),
  )

  app.get(
    `${path}/template.tpl`,
    {
      schema: {
        tags,
        summary: "Download a site's tag template",
        description:
          'The template to import into a server container of Google Tag Manager, with the ingest endpoint and key filled in. ' +
          'The endpoint is left empty when `PUBLIC_URL` is not set or does not start with `https://`, the key for viewers.',
        params: SiteParams,
        response: {
          200: {
            description: 'A template file, as an attachment',
            content: { 'text/plain': { schema: Type.String() } },
          },
          ...errorResponses(404),
        },
      },
    },
    async (request, reply) => {
      const { name, ingest_key: ingestKey } = shownTo(request, await getSite(store, request.params.site_id))
      reply.type('text/plain; charset=utf-8')
      reply.header('content-disposition', `attachment; filename="${templateFileName(name)}"`)
      return reply.send(await tagTemplate({ endpoint: ingestEndpoint(options.publicUrl), ingestKey }))
    },
  )

  app.post(
    '/api/sites',
    {
      schema: {
        tags,
        summary: 'Create a site',
        description:
          'Adds a web property to a client. Its ingest key is generated and stands in the answer. With `auto_probes` it also ' +
          'gets every probe that its fields allow.',
        querystring: CreateSiteQuery,
        body: CreateSite,
        response: { 201: SiteRecord, ...errorResponses(400, 413) },
      },
    },
    async (request, reply) => {
      const ctx = contextOf(options, request)
      const row = await createSite(ctx, request.body, async (trx, site) => {
        if (request.query.auto_probes === true) await options.addProbes(trx, ctx, site)
      })
      return reply.code(201).send(await recordFor(request, row))
    },
  )

  app.patch(
    path,
    {
      schema: {
        tags,
        summary: 'Change a site',
        description: 'Changes the given fields; null clears an optional one. Client and ingest key stay as they are.',
        params: SiteParams,
        body: UpdateSite,
        response: { 200: SiteRecord, ...errorResponses(400, 404, 413) },
      },
    },
    async (request) =>
      recordFor(request, await updateSite(contextOf(options, request), request.params.site_id, request.body)),
  )

  app.post(
    `${path}/revoke-key`,
    {
      schema: {
        tags,
        summary: "Revoke a site's ingest key",
        description:
          'Ingest refuses the key from now on, for good. To get a new key, delete the site and create it again.',
        params: SiteParams,
        response: { 200: SiteRecord, ...errorResponses(404) },
      },
    },
    async (request) => recordFor(request, await revokeKey(contextOf(options, request), request.params.site_id)),
  )

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: 'Delete a site',
        description: 'Deletes the site with its monitoring data.',
        params: SiteParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await removeSite(contextOf(options, request), options.deletionHooks, request.params.site_id)
      return reply.code(204).send(null)
    },
  )
}
