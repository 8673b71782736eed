import { notFound } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import type { Tables, Transaction } from '../../store/index.ts'
import type { Registry } from '../registry.ts'
import { auditProbe } from './audit.ts'

/**
 * Deletes a probe. Afterwards nothing of it can be seen or written; its results are removed behind it.
 *
 * @throws AppError `not_found`.
 */
export async function removeProbe(ctx: Context, registry: Registry, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('probes').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('Probe')
    await auditProbe(trx, ctx, registry, 'delete', row, null)
  })
}

/** Deletes what the deleted sites had here; the results of their probes are removed behind it. */
export async function removeOfSites(trx: Transaction<Tables>, sites: readonly { id: string }[]): Promise<void> {
  for (const table of ['probes', 'deploy_markers'] as const) {
    // One by one: no limit of parameters is met, whatever the number of sites.
    for (const { id } of sites) await trx.deleteFrom(table).where('site_id', '=', id).execute()
  }
}
