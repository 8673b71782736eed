import type { FastifyRequest } from 'fastify'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { type Static, Type } from 'typebox'
import { EXPECTS, errorResponses, type HttpApp, IsoTime, model, NoContent, Uuid, visibleTo } from '../http/index.ts'
import { AppError, isoTime, newOrderedId, notFound } from '../lib/index.ts'
import { lockText, type SavedViewRow, type Tables, type Transaction } from '../store/index.ts'
import { writeAudit } from './audit.ts'
import { ONE_LINE } from './client-schemas.ts'
import { type Context, contextOf, type ManagementOptions } from './context.ts'

/** No one reads more chips than this. */
const MOST_VIEWS = 50

const fields = {
  name: Type.String({ ...ONE_LINE, maxLength: 60, description: 'Leading and trailing spaces are removed' }),
  path: Type.String({
    // A single slash first: after two, a browser would take the rest for another host.
    pattern: '^/(?![/\\\\])[^\\s#\\\\]*$',
    maxLength: 2_000,
    [EXPECTS]: 'a path of the dashboard like /incidents?state=open',
    description: 'Path of a dashboard page with its filters, as in the address bar',
  }),
}

export const SavedViewRecord = model('SavedView', {
  id: Uuid,
  ...fields,
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who saved it, as in the audit log' }),
})
export type SavedViewRecord = Static<typeof SavedViewRecord>

const SaveView = Type.Object(fields, { additionalProperties: false })
export type SaveView = Static<typeof SaveView>

/** @throws AppError `conflict` when there is one of this name, or too many */
async function saveView(ctx: Context, ownerId: string | null, { name, path }: SaveView): Promise<SavedViewRecord> {
  const row: SavedViewRow = {
    id: newOrderedId(ctx.clock.now()),
    name: name.trim(),
    path,
    created_at: ctx.clock.now(),
    created_by: ctx.actor,
    owner_id: ownerId,
  }
  return ctx.store.write.transaction().execute(async (trx) => {
    await lockText(trx, ctx.store, `views ${ownerId}`)
    const there = await trx.selectFrom('saved_views').select(['id', 'name']).where(seenBy(ownerId)).execute()
    if (there.some((each) => each.name === row.name))
      throw new AppError('conflict', `There is already a view “${row.name}”`)
    if (there.length >= MOST_VIEWS) throw new AppError('conflict', `${MOST_VIEWS} views are saved: delete one`)
    await trx.insertInto('saved_views').values(row).execute()
    const after = savedViewRecord(row)
    await writeAudit(trx, ctx, [{ entity: 'saved_view', verb: 'create', id: row.id, before: null, after }])
    return after
  })
}

/** @throws AppError `not_found` */
async function deleteView(ctx: Context, ownerId: string | null, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx
      .deleteFrom('saved_views')
      .where('id', '=', id)
      .where(seenBy(ownerId))
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw notFound('View')
    await writeAudit(trx, ctx, [
      { entity: 'saved_view', verb: 'delete', id, before: savedViewRecord(row), after: null },
    ])
  })
}

/** Removes the views of a person or token that is being deleted: no one else sees them. */
export async function removeViewsOf(trx: Transaction<Tables>, ownerId: string): Promise<void> {
  await trx.deleteFrom('saved_views').where('owner_id', '=', ownerId).execute()
}

/**
 * Names and filters may mention any client, so callers who see only some clients have their own views.
 *
 * @param ownerId null for views shared by everyone who sees every client
 */
const seenBy =
  (ownerId: string | null) =>
  (eb: ExpressionBuilder<Tables, 'saved_views'>): Expression<SqlBool> =>
    ownerId === null ? eb('owner_id', 'is', null) : eb('owner_id', '=', ownerId)

/** The owner of the views that a caller sees and changes. */
const viewsOf = ({ access }: FastifyRequest): string | null => (visibleTo(access) === null ? null : access.holder)

const savedViewRecord = ({ created_at, owner_id: _, ...row }: SavedViewRow): SavedViewRecord => ({
  ...row,
  created_at: isoTime(created_at),
})

const tags = ['Views']
const path = '/api/views'
const config = { scope: 'visible' } as const

/** Adds the routes for saved views. */
export function savedViewRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store } = options

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'List saved views',
        description:
          'Dashboard pages with their filters. Everyone who sees every client shares one list; a person who sees only some clients has a list of their own.',
        response: { 200: Type.Array(SavedViewRecord, { description: 'Oldest first' }) },
      },
    },
    async (request) => {
      const views = store.read
        .selectFrom('saved_views')
        .selectAll()
        .where(seenBy(viewsOf(request)))
        .orderBy('id')
      return (await views.execute()).map(savedViewRecord)
    },
  )

  app.post(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'Save a view',
        description: `Adds it to the list shared by everyone who sees every client, or to the caller's own. 409 when one of this name or ${MOST_VIEWS} views are saved.`,
        body: SaveView,
        response: { 201: SavedViewRecord, ...errorResponses(409) },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await saveView(contextOf(options, request), viewsOf(request), request.body)),
  )

  app.delete(
    `${path}/:view_id`,
    {
      config,
      schema: {
        tags,
        summary: 'Delete a saved view',
        params: Type.Object({ view_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await deleteView(contextOf(options, request), viewsOf(request), request.params.view_id)
      return reply.code(204).send(null)
    },
  )
}
