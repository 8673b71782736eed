import { DAY, floorTo, MINUTE } from '../../lib/index.ts'
import { amendMessages, amendVendorMessages } from '../../notifications/index.ts'
import { type LossCounts, readLosses } from '../../probes/index.ts'
import { attemptEach, type IncidentRow, type Store } from '../../store/index.ts'
import { messageImpact } from '../alert-message.ts'
import { affectedBy, type Impact, impactOf } from './impact.ts'
import { purchaseValue, totalOf } from './impact-value.ts'
import { impactIn } from './records.ts'
import { signOf } from './sign.ts'

/** Time between two counts of an unresolved incident: a total a few minutes old is good enough, and each costs as much as a probe run. */
const EVERY_MS = 5 * MINUTE
/** Incidents counted in one round, so that one that opens meanwhile is not kept waiting for long. */
const PER_ROUND = 20
/** A longer incident is counted over its latest weeks only: by then it is the normal state. */
const LONGEST_MS = 28 * DAY

/**
 * Counts the impact of incidents that are due for it: every few minutes while they last, and once more after their end. Runs on one
 * node and never in a transaction that writes results, because it reads four weeks of hourly counts.
 */
export async function followImpacts(
  store: Store,
  keyEvents: readonly string[],
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  const due = await store.read
    .selectFrom('incidents')
    .selectAll()
    // Due times in the far future come from a clock that was ahead.
    .where(({ eb, or }) => or([eb('impact_due', '<=', now), eb('impact_due', '>', now + EVERY_MS)]))
    .orderBy('impact_due')
    .orderBy('id')
    .limit(PER_ROUND)
    .execute()
  await attemptEach(due, async (row) => {
    if (!shouldContinue()) return false
    // Moved first: otherwise an incident whose count fails would be tried all the time, before all others.
    await moveDue(store, row, now + EVERY_MS)
    const impact =
      row.scope === 'vendor' ? await impactOfParts(store, row) : await impactOfSite(store, row, keyEvents, now)
    await write(store, row, impact, now)
    return true
  })
}

async function moveDue({ write }: Store, { id, impact_due }: IncidentRow, to: number): Promise<void> {
  // The old value is a condition because an incident that has just been resolved is due at once.
  await write
    .updateTable('incidents')
    .set({ impact_due: to })
    .where('id', '=', id)
    .where('impact_due', '=', impact_due)
    .execute()
}

async function impactOfSite(
  store: Store,
  row: IncidentRow,
  keyEvents: readonly string[],
  now: number,
): Promise<Impact | null> {
  const alerts = await store.read.selectFrom('alerts').selectAll().where('incident_id', '=', row.id).execute()
  const affected = affectedBy(alerts.map(signOf), now)
  const site = await store.read
    .selectFrom('sites')
    .selectAll()
    .where('id', '=', row.site_id ?? '')
    .executeTakeFirst()
  if (affected === null || site === undefined) return null
  const range = { from: Math.max(affected.from, affected.to - LONGEST_MS), to: affected.to }
  // Counts are per minute: compared with the usual count of a whole minute, the rest of an unfinished one would look lost.
  if (floorTo(range.from, MINUTE) + MINUTE > now) return null
  const tags = [...affected.failing, ...affected.missing.map(({ tag }) => tag)]
  const counts: LossCounts = await readLosses({ store, site, now }, range, [...new Set(tags)])
  const impact = impactOf({ ...affected, ...range }, counts, keyEvents, row.resolved_at !== null)
  return impact === null ? null : { ...impact, value: purchaseValue(impact, new Set(tags).size, site) }
}

/** Adds up the known impacts of the sites' incidents, each of which is counted on its own. */
async function impactOfParts({ read }: Store, { id, resolved_at }: IncidentRow): Promise<Impact | null> {
  const parts = await read.selectFrom('incidents').select('impact').where('parent_id', '=', id).execute()
  const total = totalOf(parts.flatMap(({ impact }) => impactIn(impact) ?? []))
  return total === null ? null : { ...total, final: resolved_at !== null }
}

async function write(
  { write: db, isShared }: Store,
  row: IncidentRow,
  impact: Impact | null,
  now: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const current = await trx
      .selectFrom('incidents')
      .select(['resolved_at', 'announced_alert_id'])
      .where('id', '=', row.id)
      .$if(isShared, (query) => query.forUpdate())
      .executeTakeFirst()
    // It was resolved during the count: the next round counts its end.
    if (current === undefined || current.resolved_at !== row.resolved_at) return
    const isOver = row.resolved_at !== null
    const text = impact === null ? null : JSON.stringify(impact)
    await trx
      .updateTable('incidents')
      .set({ impact: text, impact_due: isOver ? null : now + EVERY_MS })
      .where('id', '=', row.id)
      .execute()
    const known = messageImpact({ impact: text }, isOver)
    if (row.scope === 'vendor') await amendVendorMessages(trx, row.id, known)
    else if (current.announced_alert_id !== null)
      await amendMessages(trx, current.announced_alert_id, { impact: known })
  })
}
