import { invalidRequest, newId, newIngestKey } from '../../lib/index.ts'
import type { SiteRow, Tables, Transaction } from '../../store/index.ts'
import type { Context } from '../context.ts'
import { lockClient } from '../locks.ts'
import { writeAudit } from '../write-audit.ts'
import { applyToSite } from './apply.ts'
import { siteRecord } from './record.ts'
import type { CreateSite } from './schemas.ts'

/**
 * @param addTo adds what belongs to the new site, in the same transaction
 * @throws AppError `invalid_request` when there is no such client.
 */
export async function createSite(
  ctx: Context,
  { client_id, ...input }: CreateSite,
  addTo?: (trx: Transaction<Tables>, site: SiteRow) => Promise<void>,
): Promise<SiteRow> {
  const blank = {
    id: newId(),
    client_id,
    name: input.name,
    url: input.url,
    ingest_key: newIngestKey(),
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
    created_at: ctx.clock.now(),
  }
  const row = await ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockClient(trx, client_id)) === undefined)
      throw invalidRequest('/client_id', 'is not the id of a client')
    const created = await trx
      .insertInto('sites')
      .values(applyToSite(blank, input))
      .returningAll()
      .executeTakeFirstOrThrow()
    await writeAudit(trx, ctx, [
      { entity: 'site', verb: 'create', id: created.id, before: null, after: siteRecord(created, null) },
    ])
    await addTo?.(trx, created)
    return created
  })
  await ctx.store.changes.publish({ kind: 'site', id: row.id })
  return row
}
