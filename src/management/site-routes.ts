import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { errorResponses, type HttpApp, NoContent, seesAll, seesSecrets, sendRecords, visibleTo } from '../http/index.ts'
import { fileNamePart } from '../lib/index.ts'
import type { SiteRow, Tables, Transaction } from '../store/index.ts'
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
import {
  createSite,
  getSite,
  MOST_OF_CLIENT,
  removeSite,
  revokeKeys,
  type SeenSite,
  siteIds,
  sitesOf,
  updateSite,
} from './sites.ts'

const tags = ['Sites']
const path = '/api/sites/:site_id'

const shownTo = ({ access }: FastifyRequest, record: SiteRecord): SiteRecord =>
  seesSecrets(access, record.client_id) ? record : withoutSecrets(record)

export function siteRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store, clock, untilAllKnowIt } = options

  const recordFor = (request: FastifyRequest, { row, lastAt }: Pick<SeenSite, 'row' | 'lastAt'>): SiteRecord =>
    shownTo(request, siteRecord(row, lastAt, clock.now()))

  app.get(
    '/api/sites',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List sites',
        description: 'Sites of one client or of all. `active_only` keeps the active sites of active clients.',
        querystring: SiteQuery,
        response: { 200: Type.Array(SiteRecord, { description: 'Oldest first' }) },
      },
    },
    async (request, reply) => {
      const page = await siteIds(store, visibleTo(request.access), request.query)
      return sendRecords(request, reply, page, async (ids) =>
        (await sitesOf(store, ids, clock.now())).map((record) => shownTo(request, record)),
      )
    },
  )

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read a site',
        description: 'One site with its newest ingest key. Viewers do not see the key.',
        params: SiteParams,
        response: { 200: SiteRecord, ...errorResponses(404) },
      },
    },
    async (request) => shownTo(request, await getSite(store, request.params.site_id, clock.now())),
  )

  app.get(
    `${path}/template.tpl`,
    {
      schema: {
        tags,
        summary: "Download a site's tag template",
        description:
          'The template to import into a server container of Google Tag Manager, with the ingest endpoint and the newest key filled in. ' +
          'The endpoint is empty if `PUBLIC_URL` is not set or does not start with `https://`; the key is empty for viewers.',
        params: SiteParams,
        response: {
          200: {
            description: 'The template file, as an attachment',
            content: { 'text/plain': { schema: Type.String() } },
          },
          ...errorResponses(404),
        },
      },
    },
    async (request, reply) => {
      const { name, ingest_key: ingestKey } = shownTo(
        request,
        await getSite(store, request.params.site_id, clock.now()),
      )
      reply.type('text/plain; charset=utf-8')
      reply.header('content-disposition', `attachment; filename="${templateFileName(name)}"`)
      return reply.send(await tagTemplate({ endpoint: ingestEndpoint(options.publicUrl), ingestKey }))
    },
  )

  app.post(
    '/api/sites',
    {
      config: { scope: 'named' },
      schema: {
        tags,
        summary: 'Create a site',
        description:
          'Adds a web property to a client. Its ingest key is generated and returned. With `auto_probes` it also ' +
          'gets every probe that its fields allow; otherwise nothing is checked until you add a probe. 409 when a caller who sees only some clients adds more than 500 sites, or 5,000 probes, to one.',
        querystring: CreateSiteQuery,
        body: CreateSite,
        response: { 201: SiteRecord, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      const ctx = contextOf(options, request)
      const addTo = async (trx: Transaction<Tables>, site: SiteRow) => {
        if (request.query.auto_probes === true) await options.addProbes(trx, ctx, site, request.access)
      }
      const most = seesAll(request.access) ? Number.POSITIVE_INFINITY : MOST_OF_CLIENT
      const row = await createSite(ctx, request.body, addTo, most)
      await untilAllKnowIt(request)
      return reply.code(201).send(recordFor(request, { row, lastAt: null }))
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
        response: { 200: SiteRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const site = await updateSite(contextOf(options, request), request.params.site_id, request.body)
      if (site.isResumed) await untilAllKnowIt(request)
      return recordFor(request, site)
    },
  )

  app.post(
    `${path}/revoke-key`,
    {
      schema: {
        tags,
        summary: 'Revoke all ingest keys of a site',
        description:
          'From now on, ingest permanently refuses every key that the site has. `POST …/keys` creates a new one; ' +
          '`POST …/keys/{key_id}/revoke` revokes one of several.',
        params: SiteParams,
        response: { 200: SiteRecord, ...errorResponses(404) },
      },
    },
    async (request) => recordFor(request, await revokeKeys(contextOf(options, request), request.params.site_id)),
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

const TEMPLATE = join(import.meta.dirname, '../../tag/template.tpl')
const PARAMETERS = '\n___TEMPLATE_PARAMETERS___\n'
const CODE = '\n___SANDBOXED_JS_FOR_SERVER___\n'

/** The values filled into a site's copy of the tag template; null leaves a field to the user. */
interface TagSettings {
  endpoint: string | null
  ingestKey: string | null
}

/** The server-container template to import into Tag Manager, with a site's settings as defaults of its form. */
async function tagTemplate(settings: TagSettings): Promise<string> {
  return withDefaults(await readFile(TEMPLATE, 'utf8'), { ...settings })
}

/**
 * Where the tag sends to. Null when the service has no public https address, as the tag accepts no other.
 *
 * @param publicUrl without a trailing slash
 */
const ingestEndpoint = (publicUrl: string | null): string | null =>
  publicUrl?.startsWith('https://') ? `${publicUrl}/ingest` : null

const templateFileName = (siteName: string): string => `tagwarden-${fileNamePart(siteName, 'site')}.tpl`

/** Edits the form as JSON, so that no value can end the form and reach the code behind it. */
export function withDefaults(template: string, defaults: Readonly<Record<string, string | null>>): string {
  const from = template.indexOf(PARAMETERS) + PARAMETERS.length
  const to = template.indexOf(CODE)
  const parameters = JSON.parse(template.slice(from, to)) as { name: string }[]
  for (const [name, defaultValue] of Object.entries(defaults)) {
    const parameter = parameters.find((candidate) => candidate.name === name)
    if (parameter === undefined) throw new Error(`the tag template has no setting ${name}`)
    if (defaultValue !== null) Object.assign(parameter, { defaultValue })
  }
  return `${template.slice(0, from)}\n${JSON.stringify(parameters, null, 2)}\n\n${template.slice(to)}`
}
