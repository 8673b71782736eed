import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, model, NoContent, nullable, Uuid } from '../http/index.ts'
import { DAY, invalidRequest, isoTime, newOrderedId, notFound } from '../lib/index.ts'
import type { AnnotationRow, ClientRow, Kysely, SiteRow, Tables, Transaction } from '../store/index.ts'
import { writeAudit } from './audit.ts'
import { HttpUrl, ONE_LINE } from './client-schemas.ts'
import { type Context, contextOf, lockClient, lockSite, type ManagementOptions } from './context.ts'

/** Most annotations in an answer: more would fill the chart. */
const MOST_SHOWN = 200
/** Most annotations of a client; then the oldest are dropped. A pipeline that deploys thirty times a day reaches it in a year. */
const MOST_KEPT = 10_000
/** How far ahead one may be: campaigns are planned, but a date farther ahead is a mistake. */
const FURTHEST_AHEAD = 366 * DAY

const fields = {
  site_id: nullable(Uuid),
  text: Type.String({ ...ONE_LINE, maxLength: 200, description: 'What happened: `Consent banner changed`' }),
  url: nullable(
    Type.Unsafe<string>({ ...HttpUrl, description: 'Link to an explanation, such as a release or a ticket' }),
  ),
}

export const AnnotationRecord = model('Annotation', {
  id: Uuid,
  client_id: Uuid,
  ...fields,
  at: IsoTime,
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who created it, as in the audit log' }),
})
export type AnnotationRecord = Static<typeof AnnotationRecord>

export const AddAnnotation = Type.Object(
  {
    site_id: Type.Optional(Uuid),
    client_id: Type.Optional(
      Type.Unsafe<string>({ ...Uuid, description: 'Instead of `site_id`: applies to all sites of the client' }),
    ),
    text: fields.text,
    url: Type.Optional(fields.url),
    at: Type.Optional(Type.Unsafe<string>({ ...IsoTime, description: 'Now by default' })),
  },
  { additionalProperties: false },
)
export type AddAnnotation = Static<typeof AddAnnotation>

const AnnotationsQuery = Type.Object(
  {
    site_id: Type.Optional(
      Type.String({ ...Uuid, description: 'Those of the site, and those of all sites of its client' }),
    ),
    client_id: Type.Optional(Type.String({ ...Uuid, description: 'Those of all sites of the client' })),
    from: Type.Optional(IsoTime),
    to: Type.Optional(Type.Unsafe<string>({ ...IsoTime, description: 'Exclusive' })),
  },
  { additionalProperties: false },
)

/** Which annotations: those of all a client's sites, and with a site also those of that one. */
interface Scope {
  clientId: string
  siteId: string | null
}

/** The scope as callers give it: one of the two. */
type NamedScope = Pick<AddAnnotation, 'site_id' | 'client_id'>

interface Finders {
  site: (id: string) => Promise<Pick<SiteRow, 'id' | 'client_id'> | undefined>
  client: (id: string) => Promise<Pick<ClientRow, 'id'> | undefined>
}

/** @throws AppError `invalid_request` naming the fault */
async function addAnnotation(ctx: Context, input: AddAnnotation): Promise<AnnotationRecord> {
  const now = ctx.clock.now()
  const at = input.at === undefined ? now : Date.parse(input.at)
  if (at > now + FURTHEST_AHEAD) throw invalidRequest('/at', 'must be within a year from now')
  const row = await ctx.store.write.transaction().execute(async (trx) => {
    const { clientId, siteId } = await lockScope(trx, input)
    const added: AnnotationRow = {
      id: newOrderedId(now),
      client_id: clientId,
      site_id: siteId,
      at,
      text: input.text.trim(),
      url: input.url ?? null,
      created_at: now,
      created_by: ctx.actor,
    }
    await trx.insertInto('annotations').values(added).execute()
    await forgetOldest(trx, clientId)
    await writeAudit(trx, ctx, [
      { entity: 'annotation', verb: 'create', id: added.id, before: null, after: annotationRecord(added) },
    ])
    return added
  })
  return annotationRecord(row)
}

/** Locks the client or site, so that it is not deleted before the transaction ends. */
const lockScope = (trx: Transaction<Tables>, named: NamedScope): Promise<Scope> =>
  scopeOf(named, { site: (id) => lockSite(trx, id), client: (id) => lockClient(trx, id) })

/** @throws AppError `invalid_request` when neither or both are given, or the id is unknown */
async function scopeOf({ site_id, client_id }: NamedScope, find: Finders): Promise<Scope> {
  if (site_id !== undefined && client_id !== undefined) {
    throw invalidRequest('/client_id', 'cannot be combined with site_id: use one of them')
  }
  if (site_id !== undefined) {
    const site = await find.site(site_id)
    if (site === undefined) throw invalidRequest('/site_id', 'is not the id of a site')
    return { clientId: site.client_id, siteId: site.id }
  }
  if (client_id === undefined) throw invalidRequest('/site_id', 'is missing: give it, or client_id')
  const client = await find.client(client_id)
  if (client === undefined) throw invalidRequest('/client_id', 'is not the id of a client')
  return { clientId: client.id, siteId: null }
}

async function forgetOldest(trx: Transaction<Tables>, clientId: string): Promise<void> {
  const last = await trx
    .selectFrom('annotations')
    .select('id')
    .where('client_id', '=', clientId)
    .orderBy('id', 'desc')
    .offset(MOST_KEPT)
    .limit(1)
    .executeTakeFirst()
  if (last === undefined) return
  await trx.deleteFrom('annotations').where('client_id', '=', clientId).where('id', '<=', last.id).execute()
}

/** The latest annotations of a window, oldest first. Times are epoch ms. */
async function listAnnotations(
  db: Kysely<Tables>,
  { clientId, siteId }: Scope,
  { from, to }: { from: number | undefined; to: number | undefined },
): Promise<AnnotationRow[]> {
  const latest = await db
    .selectFrom('annotations')
    .selectAll()
    .where('client_id', '=', clientId)
    .$if(siteId !== null, (all) => all.where((eb) => eb.or([eb('site_id', 'is', null), eb('site_id', '=', siteId)])))
    .$if(from !== undefined, (all) => all.where('at', '>=', from ?? 0))
    .$if(to !== undefined, (all) => all.where('at', '<', to ?? 0))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_SHOWN)
    .execute()
  return latest.reverse()
}

/** @throws AppError `not_found` */
async function deleteAnnotation(ctx: Context, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('annotations').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('Annotation')
    await writeAudit(trx, ctx, [
      { entity: 'annotation', verb: 'delete', id, before: annotationRecord(row), after: null },
    ])
  })
}

const annotationRecord = ({ at, created_at, ...row }: AnnotationRow): AnnotationRecord => ({
  ...row,
  at: isoTime(at),
  created_at: isoTime(created_at),
})

const tags = ['Annotations']
const path = '/api/annotations'
const timeOf = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time))

export function annotationRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store } = options

  app.get(
    path,
    {
      config: { scope: 'named' },
      schema: {
        tags,
        summary: 'List annotations',
        description: `Those of a site, including those that its client has for all sites, or those of a client. If there are more than ${MOST_SHOWN}, the latest.`,
        querystring: AnnotationsQuery,
        response: { 200: Type.Array(AnnotationRecord, { description: 'Oldest first' }) },
      },
    },
    async ({ query }) => {
      const db = store.read
      const scope = await scopeOf(query, {
        site: (id) => db.selectFrom('sites').select(['id', 'client_id']).where('id', '=', id).executeTakeFirst(),
        client: (id) => db.selectFrom('clients').select('id').where('id', '=', id).executeTakeFirst(),
      })
      return (await listAnnotations(db, scope, { from: timeOf(query.from), to: timeOf(query.to) })).map(
        annotationRecord,
      )
    },
  )

  app.post(
    path,
    {
      config: { scope: 'named' },
      schema: {
        tags,
        summary: 'Add an annotation',
        description:
          'Records an event that may explain what the charts show; they mark it beside published versions. ' +
          `For people and for deployment pipelines. The latest ${MOST_KEPT.toLocaleString('en')} of a client are kept.`,
        body: AddAnnotation,
        response: { 201: AnnotationRecord },
      },
    },
    async (request, reply) => reply.code(201).send(await addAnnotation(contextOf(options, request), request.body)),
  )

  app.delete(
    `${path}/:annotation_id`,
    {
      schema: {
        tags,
        summary: 'Delete an annotation',
        description: 'The charts no longer show it.',
        params: Type.Object({ annotation_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await deleteAnnotation(contextOf(options, request), request.params.annotation_id)
      return reply.code(204).send(null)
    },
  )
}
