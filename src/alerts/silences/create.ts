import { DAY, invalidRequest, newOrderedId } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import type { SilenceRow } from '../../store/index.ts'
import { lockScope } from '../scope.ts'
import { silenceRecord } from './record.ts'
import type { CreateSilence } from './schemas.ts'

/** A year, and the day that a leap year adds. A silence that nobody remembers must not hide an outage for ever. */
const MOST_DAYS = 366

/** @throws AppError `invalid_request` naming the fault: not exactly one scope, an unknown one, an end that cannot be. */
export async function createSilence(ctx: Context, input: CreateSilence): Promise<SilenceRow> {
  const now = ctx.clock.now()
  const starts_at = input.starts_at === undefined ? now : Date.parse(input.starts_at)
  const ends_at = Date.parse(input.ends_at)
  if (ends_at <= starts_at) throw invalidRequest('/ends_at', 'must be after starts_at')
  if (ends_at <= now) throw invalidRequest('/ends_at', 'must be in the future')
  if (ends_at > now + MOST_DAYS * DAY) throw invalidRequest('/ends_at', `must be at most ${MOST_DAYS} days from now`)
  return ctx.store.write.transaction().execute(async (trx) => {
    const { scope } = await lockScope(trx, input)
    const row: SilenceRow = {
      id: newOrderedId(now),
      ...scope,
      subject_key: null,
      subject_label: null,
      starts_at,
      ends_at,
      until_resolved: 0,
      comment: input.comment?.trim() || null,
      created_at: now,
      created_by: ctx.actor,
    }
    await trx.insertInto('silences').values(row).execute()
    await writeAudit(trx, ctx, [
      { entity: 'silence', verb: 'create', id: row.id, before: null, after: silenceRecord(row, now) },
    ])
    return row
  })
}
