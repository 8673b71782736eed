import type { ExpressionBuilder } from 'kysely'
import type { SilenceRow, Tables, Transaction } from '../../store/index.ts'

/** What a silence applies to. */
export type SilenceScope = Pick<SilenceRow, 'client_id' | 'site_id' | 'probe_id' | 'subject_key'>

/** Which alerts are within a silence and unresolved. */
export const isWithin =
  ({ client_id, site_id, probe_id, subject_key }: SilenceScope) =>
  (eb: ExpressionBuilder<Tables, 'alerts'>) =>
    eb.and([
      eb('state', '<>', 'resolved'),
      ...(client_id === null ? [] : [eb('client_id', '=', client_id)]),
      ...(site_id === null ? [] : [eb('site_id', '=', site_id)]),
      ...(probe_id === null ? [] : [eb('probe_id', '=', probe_id)]),
      ...(subject_key === null ? [] : [eb('subject', '=', subject_key)]),
    ])

export async function unresolvedWithin(trx: Transaction<Tables>, scope: SilenceScope): Promise<number> {
  const { count } = await trx
    .selectFrom('alerts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isWithin(scope))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Ends the silences that were to last until their alerts are resolved, when none is left. To be called after some were. */
export async function endResolvedSilences(trx: Transaction<Tables>, now: number): Promise<void> {
  const silences = await trx
    .selectFrom('silences')
    .selectAll()
    .where('until_resolved', '=', 1)
    .where('ends_at', '>', now)
    .execute()
  for (const silence of silences) {
    if ((await unresolvedWithin(trx, silence)) > 0) continue
    // Never before it began: a silence has a length.
    const ends_at = Math.max(now, silence.starts_at + 1)
    await trx.updateTable('silences').set({ ends_at }).where('id', '=', silence.id).execute()
  }
}
