import { notFound } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import { noteInTimelines } from './note.ts'
import { silenceRecord } from './record.ts'

/**
 * Deletes a silence, which ends it. Alerts that it kept quiet go on naming it, and the audit log what it was.
 *
 * @throws AppError `not_found`.
 */
export async function removeSilence(ctx: Context, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('silences').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('Silence')
    const now = ctx.clock.now()
    if (row.ends_at > now) await noteInTimelines(trx, row, 'unsilenced', ctx.actor, now)
    const before = silenceRecord(row, now)
    await writeAudit(trx, ctx, [{ entity: 'silence', verb: 'delete', id, before, after: null }])
  })
}
