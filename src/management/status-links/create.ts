import { newStatusToken, notFound } from '../../lib/index.ts'
import type { StatusLinkRow } from '../../store/index.ts'
import type { Context } from '../context.ts'
import { lockClient } from '../locks.ts'
import { writeAudit } from '../write-audit.ts'
import { findStatusLink } from './find.ts'
import { auditedLink } from './record.ts'

/**
 * Gives a client a link to its status page; one that it has stays as it is.
 *
 * @throws AppError `not_found`.
 */
export async function createStatusLink(
  ctx: Context,
  clientId: string,
): Promise<{ row: StatusLinkRow; isNew: boolean }> {
  return ctx.store.write.transaction().execute(async (trx) => {
    // The lock lets two calls at once end with the same link, and none outlive its client.
    if ((await lockClient(trx, clientId)) === undefined) throw notFound('Client')
    const present = await findStatusLink(trx, clientId)
    if (present !== undefined) return { row: present, isNew: false }
    const row: StatusLinkRow = {
      client_id: clientId,
      token: newStatusToken(),
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
