import { notFound } from '../../lib/index.ts'
import type { Context } from '../context.ts'
import { writeAudit } from '../write-audit.ts'
import { auditedLink } from './record.ts'

/**
 * Makes a client's link open nothing any more, for good: another one gets another token.
 *
 * @throws AppError `not_found` when there is no such client, or it has no link.
 */
export async function revokeStatusLink(ctx: Context, clientId: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const [row] = await trx.deleteFrom('status_links').where('client_id', '=', clientId).returningAll().execute()
    if (row === undefined) throw notFound('Status link')
    await writeAudit(trx, ctx, [
      { entity: 'status_link', verb: 'revoke', id: clientId, before: auditedLink(row), after: null },
    ])
  })
}
