import { type Page, pageOfIds, unknownAfter, type Visible } from '../http/index.ts'
import { AppError, type ErrorDetail, invalidRequest, newId, notFound } from '../lib/index.ts'
import { type ClientRow, lockText, type Store } from '../store/index.ts'
import { changedFields, writeAudit } from './audit.ts'
import { type ClientQuery, type CreateClient, clientRecord, type UpdateClient } from './client-schemas.ts'
import { type Context, type DeletionHooks, lockClient, requireNewName } from './context.ts'
import type { Plan } from './plans.ts'
import { recordSiteRemovals } from './sites.ts'

/**
 * @throws AppError `invalid_request` when limits are given that the plan does not allow, `conflict` when there is one of the name
 *   and only a new one is wanted
 */
export async function createClient(ctx: Context, defaultPlan: Plan, input: CreateClient): Promise<ClientRow> {
  const blank: ClientRow = {
    id: newId(),
    name: input.name,
    email: null,
    chat_webhook: null,
    is_active: 1,
    plan: defaultPlan,
    requests_per_second: null,
    events_per_month: null,
    reminder_minutes: null,
    notify_resolved: 1,
    notify_escalated: 1,
    digest: 'off',
    quiet_from: null,
    quiet_to: null,
    created_at: ctx.clock.now(),
  }
  const row = applyToClient(blank, input)
  await ctx.store.write.transaction().execute(async (trx) => {
    // Clients belong to nothing whose lock they could take.
    if (ctx.onlyNew === true) await lockText(trx, ctx.store, `client ${row.name}`)
    await requireNewName(ctx, trx.selectFrom('clients').select('id').where('name', '=', row.name))
    await trx.insertInto('clients').values(row).execute()
    await writeAudit(trx, ctx, [
      { entity: 'client', verb: 'create', id: row.id, before: null, after: clientRecord(row) },
    ])
  })
  await ctx.store.changes.publish({ kind: 'client', id: row.id })
  return row
}

/** `isResumed`: it was paused, so nodes that do not know of the change yet refuse its events. */
interface ChangedClient {
  row: ClientRow
  isResumed: boolean
}

/**
 * Changes the given fields. Unchanged values leave no trace in the audit log.
 *
 * @param mayChangeTerms whether the plan, its limits and whether the client is paused may change: they protect the other clients
 *   and the operator from this one
 * @throws AppError `not_found`, `forbidden`, or `invalid_request` when limits are given that the plan does not allow
 */
export async function updateClient(
  ctx: Context,
  id: string,
  patch: UpdateClient,
  mayChangeTerms: boolean,
): Promise<ChangedClient> {
  const { isChanged, ...client } = await ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockClient(trx, id)
    if (before === undefined) throw notFound('Client')
    const after = applyToClient(before, patch)
    const changed = changedFields(before, after)
    if (Object.keys(changed).length === 0) return { row: before, isResumed: false, isChanged: false }
    if (!mayChangeTerms && TERMS.some((field) => field in changed)) {
      throw new AppError(
        'forbidden',
        'Only an editor of all clients can pause or resume a client or change its plan and limits',
      )
    }
    await trx.updateTable('clients').set(changed).where('id', '=', id).execute()
    await writeAudit(trx, ctx, [
      { entity: 'client', verb: 'update', id, before: clientRecord(before), after: clientRecord(after) },
    ])
    return { row: after, isResumed: after.is_active > before.is_active, isChanged: true }
  })
  if (isChanged) await ctx.store.changes.publish({ kind: 'client', id })
  return client
}

/**
 * Deletes a client with its sites and usage. Afterwards nothing of it can be seen or written; the sites' telemetry rows are
 * removed later.
 *
 * @throws AppError `not_found`
 */
export async function removeClient(ctx: Context, hooks: DeletionHooks, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const client = await lockClient(trx, id)
    if (client === undefined) throw notFound('Client')
    const sites = await trx.deleteFrom('sites').where('client_id', '=', id).returningAll().execute()
    await recordSiteRemovals(trx, ctx, hooks, sites)
    await hooks.removeOfClient(trx, id)
    await trx.deleteFrom('status_links').where('client_id', '=', id).execute()
    await trx.deleteFrom('status_looks').where('client_id', '=', id).execute()
    await trx.deleteFrom('annotations').where('client_id', '=', id).execute()
    await trx.deleteFrom('clients').where('id', '=', id).execute()
    await writeAudit(trx, ctx, [{ entity: 'client', verb: 'delete', id, before: clientRecord(client), after: null }])
  })
  // Listeners drop the client's sites with it; publishing each site would make them look each up again.
  await ctx.store.changes.publish({ kind: 'client', id })
}

/** @throws AppError `not_found` */
export async function getClient({ read }: Pick<Store, 'read'>, id: string): Promise<ClientRow> {
  const row = await read.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Client')
  return row
}

/**
 * Returns the ids of the clients that the caller may see, all or only active ones, oldest first.
 *
 * @throws AppError `invalid_request` when `after` is not the id of one of them
 */
export async function clientIds(
  { read }: Pick<Store, 'read'>,
  visible: Visible,
  { active_only = false, after, limit }: ClientQuery,
): Promise<Page<string>> {
  let query = read.selectFrom('clients').orderBy('created_at').orderBy('id')
  if (visible !== null) query = query.where('id', 'in', [...visible])
  if (after !== undefined) {
    const last = await query.select(['created_at', 'id']).where('id', '=', after).executeTakeFirst()
    if (last === undefined) throw unknownAfter('a client')
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'id'), '>', tuple(last.created_at, last.id)),
    )
  }
  if (active_only) query = query.where('is_active', '=', 1)
  if (limit !== undefined) query = query.limit(limit + 1)
  const rows = await query.select('id').execute()
  return pageOfIds(rows, limit)
}

/** Returns these clients, oldest first. */
export const clientsOf = ({ read }: Pick<Store, 'read'>, ids: readonly string[]): Promise<ClientRow[]> =>
  read.selectFrom('clients').selectAll().where('id', 'in', ids).orderBy('created_at').orderBy('id').execute()

/** A client's own limits, which its plan must allow. */
export const OVERRIDES = ['requests_per_second', 'events_per_month'] as const
/** What only an editor of all clients may change. */
export const TERMS = ['is_active', 'plan', ...OVERRIDES] as const

/**
 * The row with `input` applied. Own limits belong to the plan `enterprise`: they cannot be set with another, and are cleared when
 * the plan changes to another.
 *
 * @throws AppError `invalid_request`, see `checkClient`
 */
function applyToClient(row: ClientRow, input: UpdateClient): ClientRow {
  const { name, is_active, notify_resolved, notify_escalated, ...others } = input
  const after: ClientRow = {
    ...row,
    ...others,
    name: name === undefined ? row.name : name.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
    notify_resolved: notify_resolved === undefined ? row.notify_resolved : Number(notify_resolved),
    notify_escalated: notify_escalated === undefined ? row.notify_escalated : Number(notify_escalated),
  }
  checkClient(after, input)
  return after.plan === 'enterprise' ? after : { ...after, requests_per_second: null, events_per_month: null }
}

/**
 * @param after what it becomes; a null `plan` is not known
 * @throws AppError `invalid_request` for half of the quiet hours, and naming the limits that the plan does not allow
 */
export function checkClient(
  after: Pick<ClientRow, 'quiet_from' | 'quiet_to'> & { plan: string | null },
  input: UpdateClient,
): void {
  if (
    (after.quiet_from === null) !== (after.quiet_to === null) ||
    (after.quiet_from ?? '') === (after.quiet_to ?? '0')
  ) {
    const field = after.quiet_from === null ? '/quiet_from' : '/quiet_to'
    throw invalidRequest(field, 'must be given together with the other end of the quiet hours, and differ from it')
  }
  if (after.plan === 'enterprise' || after.plan === null) return
  const refused = OVERRIDES.filter((field) => typeof input[field] === 'number')
  if (refused.length > 0) throw onlyWithEnterprise(refused)
}

function onlyWithEnterprise(fields: readonly string[]): AppError {
  const details: ErrorDetail[] = fields.map((field) => ({
    path: `/${field}`,
    message: 'can only be set with plan enterprise',
  }))
  return new AppError('invalid_request', details.map(({ path, message }) => `${path} ${message}`).join('; '), details)
}
