import { hashOf, newSecret, notFound } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import type { Kysely, PushTable, Tables, Transaction } from '../../store/index.ts'

/** Gives a probe a new secret address, which replaces an older one. What the last call said is kept. */
export async function makeAddress(trx: Transaction<Tables>, probeId: string, now: number): Promise<void> {
  const token = newSecret()
  const made = { token, token_hash: hashOf(token), made_at: now }
  const row: PushTable = {
    probe_id: probeId,
    ...made,
    last_at: null,
    last_status: null,
    last_message: null,
    status_since: null,
    started_at: null,
    duration_ms: null,
    run_asked_at: null,
  }
  await trx
    .insertInto('pushes')
    .values(row)
    .onConflict((conflict) => conflict.column('probe_id').doUpdateSet(made))
    .execute()
}

/**
 * Gives a probe a new address at a person's request. The audit log records who did it, without the address.
 *
 * @throws AppError `not_found`
 */
export async function renewAddress(ctx: Context, probeId: string, typeNames: readonly string[]): Promise<PushTable> {
  return ctx.store.write.transaction().execute(async (trx) => {
    // Locked, so that the probe cannot be deleted meanwhile and leave its address behind.
    const probe = await trx
      .updateTable('probes')
      .set(({ ref }) => ({ name: ref('name') }))
      .where('id', '=', probeId)
      .where('probe_type', 'in', typeNames)
      .returning(['id', 'name', 'site_id'])
      .executeTakeFirst()
    if (probe === undefined) throw notFound('Address')
    await makeAddress(trx, probeId, ctx.clock.now())
    const { name, site_id } = probe
    await writeAudit(trx, ctx, [
      { entity: 'probe', verb: 'new_address', id: probeId, before: null, after: { name, site_id } },
    ])
    return trx.selectFrom('pushes').selectAll().where('probe_id', '=', probeId).executeTakeFirstOrThrow()
  })
}

export const readPush = (db: Kysely<Tables>, probeId: string): Promise<PushTable | undefined> =>
  db.selectFrom('pushes').selectAll().where('probe_id', '=', probeId).executeTakeFirst()
