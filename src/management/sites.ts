import { type Page, pageOfIds, unknownAfter, type Visible } from '../http/index.ts'
import { invalidRequest, isoTime, newId, newSecret, notFound } from '../lib/index.ts'
import { chunksOf, type Kysely, type SiteRow, type Store, type Tables, type Transaction } from '../store/index.ts'
import { changedFields, writeAudit } from './audit.ts'
import { type Context, type DeletionHooks, lockClient, lockSite, requireNewName, requireRoom } from './context.ts'
import { hasNoKey } from './key-validity.ts'
import { lastEventAt, lastEventTimes } from './last-events.ts'
import { insertFirstKey, revokeValidKeys } from './site-keys.ts'
import {
  type CreateSite,
  checkSite,
  type SiteQuery,
  type SiteRecord,
  siteRecord,
  type UpdateSite,
} from './site-schemas.ts'

/** The defaults of a site of which only name and address are known. */
export const BLANK_SITE = {
  is_active: 1,
  key_revoked_at: null,
  timezone: 'UTC',
  tag_server_url: null,
  tag_manager_web_container_id: null,
  tag_manager_server_container_id: null,
  analytics_property_id: null,
  analytics_measurement_id: null,
  warehouse_project: null,
  warehouse_dataset: null,
  hosting_a_container_id: null,
  hosting_b_container_id: null,
  cmp_provider: null,
  average_order_value: null,
  currency: null,
  slo_target: null,
} as const satisfies Partial<SiteRow>

/**
 * Most sites that people of single clients may add to one: each site slows down everyone's overview, and with too many `/metrics`
 * leaves out all sites.
 */
export const MOST_OF_CLIENT = 500

/** A changed site with its last event (epoch ms), read before the commit: a read that failed after it would hide the change. */
export interface SeenSite {
  row: SiteRow
  lastAt: number | null
  /** Whether it was paused, so that nodes which do not know of the change yet refuse its events. */
  isResumed: boolean
}

/**
 * @param addTo adds what belongs to the new site, in the same transaction
 * @param most how many sites the client may have, including this one
 * @throws AppError `invalid_request` when there is no such client, `conflict` when it has the most sites allowed, or one of the
 *   name and only a new one is wanted
 */
export async function createSite(
  ctx: Context,
  { client_id, ...input }: CreateSite,
  addTo?: (trx: Transaction<Tables>, site: SiteRow) => Promise<void>,
  most = Number.POSITIVE_INFINITY,
): Promise<SiteRow> {
  const blank = {
    id: newId(),
    client_id,
    name: input.name,
    url: input.url,
    ingest_key: newSecret(),
    ...BLANK_SITE,
    created_at: ctx.clock.now(),
  }
  const row = await ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockClient(trx, client_id)) === undefined)
      throw invalidRequest('/client_id', 'is not the id of a client')
    const row = applyToSite(blank, input)
    await requireNewName(
      ctx,
      trx.selectFrom('sites').select('id').where('client_id', '=', client_id).where('name', '=', row.name),
    )
    await requireRoom(
      trx
        .selectFrom('sites')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('client_id', '=', client_id),
      most,
      `The client has ${most} sites: delete one, or ask an owner of all clients to add more`,
    )
    const created = await trx.insertInto('sites').values(row).returningAll().executeTakeFirstOrThrow()
    await writeAudit(trx, ctx, [
      {
        entity: 'site',
        verb: 'create',
        id: created.id,
        before: null,
        after: siteRecord(created, null, created.created_at),
      },
    ])
    await insertFirstKey(trx, created)
    await addTo?.(trx, created)
    return created
  })
  await ctx.store.changes.publish({ kind: 'site', id: row.id })
  return row
}

/**
 * Changes the given fields. Unchanged values leave no trace in the audit log.
 *
 * @throws AppError `not_found`
 */
export const updateSite = (ctx: Context, id: string, patch: UpdateSite): Promise<SeenSite> =>
  changeSite(ctx, id, async (trx, before) => {
    const now = ctx.clock.now()
    const after = applyToSite(before, patch)
    const changed = changedFields(before, after)
    if (Object.keys(changed).length === 0) return before
    await trx.updateTable('sites').set(changed).where('id', '=', id).execute()
    await writeAudit(trx, ctx, [
      {
        entity: 'site',
        verb: 'update',
        id,
        before: siteRecord(before, null, now),
        after: siteRecord(after, null, now),
      },
    ])
    return after
  })

/**
 * Revokes all valid keys of a site permanently. Keys that have ended keep their time.
 *
 * @throws AppError `not_found`
 */
export const revokeKeys = (ctx: Context, id: string): Promise<SeenSite> =>
  changeSite(ctx, id, async (trx, before) => {
    const now = ctx.clock.now()
    if (hasNoKey(before, now)) return before
    const after = await revokeValidKeys(trx, before, now)
    await writeAudit(trx, ctx, [
      {
        entity: 'site',
        verb: 'revoke_key',
        id,
        before: { key_revoked_at: null },
        after: { key_revoked_at: isoTime(now) },
      },
    ])
    return after
  })

/** @param change returns the row that it is given when it changes nothing */
async function changeSite(
  ctx: Context,
  id: string,
  change: (trx: Transaction<Tables>, before: SiteRow) => Promise<SiteRow>,
): Promise<SeenSite> {
  const { isChanged, ...site } = await ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockSite(trx, id)
    if (before === undefined) throw notFound('Site')
    const row = await change(trx, before)
    const isResumed = row.is_active > before.is_active
    return { row, lastAt: await lastEventAt(trx, row.site_no), isResumed, isChanged: row !== before }
  })
  if (isChanged) await ctx.store.changes.publish({ kind: 'site', id })
  return site
}

/**
 * Deletes a site. Afterwards nothing of it can be seen or written; its telemetry rows are removed later.
 *
 * @throws AppError `not_found`
 */
export async function removeSite(ctx: Context, hooks: DeletionHooks, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const sites = await trx.deleteFrom('sites').where('id', '=', id).returningAll().execute()
    if (sites.length === 0) throw notFound('Site')
    await recordSiteRemovals(trx, ctx, hooks, sites)
  })
  await ctx.store.changes.publish({ kind: 'site', id })
}

/**
 * @param now epoch ms
 * @throws AppError `not_found`
 */
export async function getSite({ read }: Pick<Store, 'read'>, id: string, now: number): Promise<SiteRecord> {
  const row = await requireSite(read, id)
  return siteRecord(row, await lastEventAt(read, row.site_no), now)
}

/** @throws AppError `not_found` */
export async function requireSite(db: Kysely<Tables>, siteId: string): Promise<SiteRow> {
  const site = await db.selectFrom('sites').selectAll().where('id', '=', siteId).executeTakeFirst()
  if (site === undefined) throw notFound('Site')
  return site
}

/**
 * Returns the ids of one client's sites, or of all that the caller may see, oldest first. `active_only` keeps active sites of active clients.
 *
 * @throws AppError `invalid_request` when `after` is not the id of one of them
 */
export async function siteIds(
  { read }: Pick<Store, 'read'>,
  visible: Visible,
  { client_id, active_only = false, after, limit }: SiteQuery,
): Promise<Page<string>> {
  let query = read.selectFrom('sites').orderBy('sites.created_at').orderBy('sites.site_no')
  if (visible !== null) query = query.where('sites.client_id', 'in', [...visible])
  if (after !== undefined) {
    const last = await query
      .select(['sites.created_at', 'sites.site_no'])
      .where('sites.id', '=', after)
      .executeTakeFirst()
    if (last === undefined) throw unknownAfter('a site')
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('sites.created_at', 'sites.site_no'), '>', tuple(last.created_at, last.site_no)),
    )
  }
  if (client_id !== undefined) query = query.where('sites.client_id', '=', client_id)
  if (active_only) {
    query = query
      .innerJoin('clients', 'clients.id', 'sites.client_id')
      .where('sites.is_active', '=', 1)
      .where('clients.is_active', '=', 1)
  }
  if (limit !== undefined) query = query.limit(limit + 1)
  const rows = await query.select('sites.id').execute()
  return pageOfIds(rows, limit)
}

/** Returns these sites, oldest first. */
export async function sitesOf(
  { read }: Pick<Store, 'read'>,
  ids: readonly string[],
  now: number,
): Promise<SiteRecord[]> {
  const rows = await read
    .selectFrom('sites')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('created_at')
    .orderBy('site_no')
    .execute()
  const lastEvents = await lastEventTimes(
    read,
    rows.map(({ site_no }) => site_no),
  )
  return rows.map((row) => siteRecord(row, lastEvents.get(row.site_no) ?? null, now))
}

/** The row, or future row, with `input` applied. @throws AppError `invalid_request`, see `checkSite` */
function applyToSite<T extends Omit<SiteRow, 'site_no'>>(row: T, input: UpdateSite): T {
  const { name, is_active, ...others } = input
  checkSite({ ...row, ...others })
  return {
    ...row,
    ...others,
    name: name === undefined ? row.name : name.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
  }
}

/** Completes a deletion of sites within its transaction: deletes their rows of other rooms, and audits it. */
export async function recordSiteRemovals(
  trx: Transaction<Tables>,
  ctx: Context,
  hooks: DeletionHooks,
  sites: readonly SiteRow[],
): Promise<void> {
  await hooks.removeOfSites(trx, sites)
  for (const ids of chunksOf(sites.map(({ id }) => id))) {
    for (const table of ['site_keys', 'special_days', 'annotations'] as const)
      await trx.deleteFrom(table).where('site_id', 'in', ids).execute()
  }
  await writeAudit(
    trx,
    ctx,
    sites.map((site) => ({
      entity: 'site',
      verb: 'delete',
      id: site.id,
      before: siteRecord(site, null, ctx.clock.now()),
      after: null,
    })),
  )
}
