import { notFound } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import { auditMaintenance } from './audit.ts'

/**
 * Deletes maintenance, which ends it. Results and alerts that name it go on doing so, and the audit log says what it was.
 *
 * @throws AppError `not_found`.
 */
export async function removeMaintenance(ctx: Context, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('maintenance').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('Maintenance')
    await auditMaintenance(trx, ctx, 'delete', row, null)
  })
}
