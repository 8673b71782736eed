import { DAY, invalidRequest, newOrderedId } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import type { SilenceRow, Tables, Transaction } from '../../store/index.ts'
import { lockScope, type Scope } from '../scope.ts'
import { noteInTimelines } from './note.ts'
import { silenceRecord } from './record.ts'
import type { CreateSilence } from './schemas.ts'
import { unresolvedWithin } from './within.ts'

/** A year, and the day that a leap year adds. A forgotten silence must not hide outages for years. */
const MOST_DAYS = 366

/**
 * Keeps messages back, and says so in the timelines of the alerts that are open within it.
 *
 * @throws AppError `invalid_request` naming the fault: not exactly one scope, an unknown one, an end that cannot be.
 */
export async function createSilence(ctx: Context, input: CreateSilence): Promise<SilenceRow> {
  const now = ctx.clock.now()
  const { subject_key = null, until_resolved = false } = input
  const times = timesOf(input, now)
  return ctx.store.write.transaction().execute(async (trx) => {
    const { scope } = await lockScope(trx, input)
    if (subject_key !== null && scope.probe_id === null) throw invalidRequest('/subject_key', 'needs a probe_id')
    if (until_resolved && (await unresolvedWithin(trx, { ...scope, subject_key })) === 0) {
      throw invalidRequest('/until_resolved', 'no alert is open there: give it an end (ends_at)')
    }
    const row: SilenceRow = {
      id: newOrderedId(now),
      ...scope,
      subject_key,
      subject_label: await labelOf(trx, scope, subject_key),
      ...times,
      until_resolved: Number(until_resolved),
      comment: input.comment?.trim() || null,
      created_at: now,
      created_by: ctx.actor,
    }
    await trx.insertInto('silences').values(row).execute()
    await noteInTimelines(trx, row, 'silenced', ctx.actor, now)
    await writeAudit(trx, ctx, [
      { entity: 'silence', verb: 'create', id: row.id, before: null, after: silenceRecord(row, now) },
    ])
    return row
  })
}

function timesOf(input: CreateSilence, now: number): { starts_at: number; ends_at: number } {
  const starts_at = input.starts_at === undefined ? now : Date.parse(input.starts_at)
  const latest = now + MOST_DAYS * DAY
  if (input.ends_at === undefined && input.until_resolved !== true) {
    throw invalidRequest('/ends_at', 'has to be given, unless until_resolved is true')
  }
  const ends_at = input.ends_at === undefined ? latest : Date.parse(input.ends_at)
  if (ends_at <= starts_at) throw invalidRequest('/ends_at', 'must be after starts_at')
  if (ends_at <= now) throw invalidRequest('/ends_at', 'must be in the future')
  if (ends_at > latest) throw invalidRequest('/ends_at', `must be at most ${MOST_DAYS} days from now`)
  return { starts_at, ends_at }
}

/** How the subject's last alert names it. */
async function labelOf(trx: Transaction<Tables>, { probe_id }: Scope, key: string | null): Promise<string | null> {
  if (probe_id === null || key === null) return null
  const row = await trx
    .selectFrom('alerts')
    .select('subject_label')
    .where('probe_id', '=', probe_id)
    .where('subject', '=', key)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.subject_label ?? null
}
