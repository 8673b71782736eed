import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, model, NoContent, nullable, seesSecrets, Uuid } from '../http/index.ts'
import { isoTimeOrNull, newSecret, notFound } from '../lib/index.ts'
import type { ClientRow, Kysely, StatusLinkRow, Tables } from '../store/index.ts'
import { writeAudit } from './audit.ts'
import { type Context, contextOf, lockClient, type ManagementOptions } from './context.ts'

const StatusLinkParams = Type.Object({ client_id: Uuid })

export const StatusLinkRecord = model('StatusLink', {
  client_id: Uuid,
  is_active: Type.Boolean({ description: 'Whether there is a link' }),
  token: nullable(
    Type.String({
      description:
        'Secret part of the link, which opens the page for anyone who has it; null without a link, and for viewers',
    }),
  ),
  url: nullable(
    Type.String({ description: 'Address of the page; null without `token`, or if `PUBLIC_URL` is not set' }),
  ),
  created_at: nullable(IsoTime),
  created_by: nullable(Type.String({ description: 'Who shared it, as in the audit log' })),
})
export type StatusLinkRecord = Static<typeof StatusLinkRecord>

/**
 * Gives a client a link to its status page; an existing one stays unchanged.
 *
 * @throws AppError `not_found`
 */
async function createStatusLink(ctx: Context, clientId: string): Promise<{ row: StatusLinkRow; isNew: boolean }> {
  return ctx.store.write.transaction().execute(async (trx) => {
    // The lock makes simultaneous calls end with the same link, and no link outlive its client.
    if ((await lockClient(trx, clientId)) === undefined) throw notFound('Client')
    const present = await findStatusLink(trx, clientId)
    if (present !== undefined) return { row: present, isNew: false }
    const row: StatusLinkRow = {
      client_id: clientId,
      token: newSecret(),
      created_at: ctx.clock.now(),
      created_by: ctx.actor,
    }
    await trx.insertInto('status_links').values(row).execute()
    await writeAudit(trx, ctx, [
      { entity: 'status_link', verb: 'create', id: clientId, before: null, after: auditedLink(row) },
    ])
    return { row, isNew: true }
  })
}

/**
 * Revokes a client's link: a later one gets another token.
 *
 * @throws AppError `not_found` when there is no such client, or it has no link
 */
async function revokeStatusLink(ctx: Context, clientId: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const [row] = await trx.deleteFrom('status_links').where('client_id', '=', clientId).returningAll().execute()
    if (row === undefined) throw notFound('Status link')
    await writeAudit(trx, ctx, [
      { entity: 'status_link', verb: 'revoke', id: clientId, before: auditedLink(row), after: null },
    ])
  })
}

/** The client's link, or undefined. */
async function findStatusLink(db: Kysely<Tables>, clientId: string): Promise<StatusLinkRow | undefined> {
  return db.selectFrom('status_links').selectAll().where('client_id', '=', clientId).executeTakeFirst()
}

/**
 * The same, but requires the client to exist.
 *
 * @throws AppError `not_found`
 */
async function readStatusLink(db: Kysely<Tables>, clientId: string): Promise<StatusLinkRow | undefined> {
  const client = await db.selectFrom('clients').select('id').where('id', '=', clientId).executeTakeFirst()
  if (client === undefined) throw notFound('Client')
  return findStatusLink(db, clientId)
}

/**
 * The active client whose status page the token opens.
 *
 * @throws AppError `not_found` when the token never existed or was revoked, or the client is paused; the answer does not say
 * which
 */
export async function clientOfStatusLink(db: Kysely<Tables>, token: string): Promise<Pick<ClientRow, 'id' | 'name'>> {
  const client = await db
    .selectFrom('status_links')
    .innerJoin('clients', 'clients.id', 'status_links.client_id')
    .select(['clients.id', 'clients.name'])
    .where('status_links.token', '=', token)
    .where('clients.is_active', '=', 1)
    .executeTakeFirst()
  if (client === undefined) throw notFound('Status page')
  return client
}

/**
 * A client's link as the API shows it.
 *
 * @param row undefined when the client has none
 * @param publicUrl without a trailing slash
 */
function statusLinkRecord(
  clientId: string,
  row: StatusLinkRow | undefined,
  publicUrl: string | null,
): StatusLinkRecord {
  return {
    client_id: clientId,
    is_active: row !== undefined,
    token: row?.token ?? null,
    url: row === undefined || publicUrl === null ? null : `${publicUrl}/status/${row.token}`,
    created_at: isoTimeOrNull(row?.created_at ?? null),
    created_by: row?.created_by ?? null,
  }
}

const withoutSecrets = (record: StatusLinkRecord): StatusLinkRecord => ({ ...record, token: null, url: null })

/** What the audit log keeps of a link; it masks the token. */
const auditedLink = ({ token, created_by }: StatusLinkRow) => ({ token, created_by })

const tags = ['Clients']
const path = '/api/clients/:client_id/status-link'

export function statusLinkRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store, publicUrl } = options

  const recordFor = (
    { access }: Pick<FastifyRequest, 'access'>,
    clientId: string,
    row: StatusLinkRow | undefined,
  ): StatusLinkRecord => {
    const record = statusLinkRecord(clientId, row, publicUrl)
    return seesSecrets(access) ? record : withoutSecrets(record)
  }

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "Read the link to a client's status page",
        description: 'Whether there is one, and its address. Viewers see only the former.',
        params: StatusLinkParams,
        response: { 200: StatusLinkRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { client_id: clientId } = request.params
      return recordFor(request, clientId, await readStatusLink(store.read, clientId))
    },
  )

  app.post(
    path,
    {
      schema: {
        tags,
        summary: "Share a client's status page",
        description:
          'Creates a link that shows the status of the client and its sites to anyone who has it, without a key. 200 with the ' +
          'existing link if there is one.',
        params: StatusLinkParams,
        response: { 200: StatusLinkRecord, 201: StatusLinkRecord, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { client_id: clientId } = request.params
      const { row, isNew } = await createStatusLink(contextOf(options, request), clientId)
      return reply.code(isNew ? 201 : 200).send(recordFor(request, clientId, row))
    },
  )

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: "Revoke the link to a client's status page",
        description: 'The link stops working; sharing again creates a different one.',
        params: StatusLinkParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await revokeStatusLink(contextOf(options, request), request.params.client_id)
      return reply.code(204).send(null)
    },
  )
}
