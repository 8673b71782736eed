import { AppError, newOrderedId, notFound } from '../../lib/index.ts'
import { type Context, requireRoom, signedBy, writeAudit } from '../../management/index.ts'
import type { ChannelSettings } from '../../notifications/index.ts'
import { type AlertRow, chunksOf, type IncidentRow, type Tables, type Transaction } from '../../store/index.ts'
import type { Handling } from '../alert-record.ts'
import { transition } from '../machine/transition.ts'
import type { AlertInput } from '../machine/types.ts'
import { loadMutes } from '../mutes.ts'
import { loadContext, rulesOf } from '../rules.ts'
import { lockUnresolved, writeTransitions } from '../write-transitions.ts'
import { probesOfIncidents, writeIncidentEvents } from './case.ts'
import { withVisibleParents } from './reach.ts'
import { type AddNote, incidentRecord, type NoteRecord, noteRecord } from './records.ts'
import { writeVendor } from './vendor-incidents.ts'

type Verb = 'acknowledge' | 'unacknowledge' | 'resolve'

const INPUTS = { acknowledge: 'acknowledged', unacknowledge: 'unacknowledged', resolve: 'resolved' } as const

/**
 * Handles an incident by handling all of its unresolved alerts, which it follows.
 *
 * @param seesVendors whether the caller may see what vendors' incidents explain; read before the commit, as a read that failed
 *   after it would hide the change
 * @throws AppError `not_found`, or `conflict` when it is resolved; resolving a resolved incident does nothing
 */
export async function handleIncident(
  ctx: Context,
  channelSettings: ChannelSettings,
  id: string,
  verb: Verb,
  input: Handling,
  seesVendors = true,
): Promise<IncidentRow> {
  return ctx.store.write.transaction().execute(async (trx) => {
    const shown = async (row: IncidentRow) => (await withVisibleParents(trx, [row], seesVendors))[0] ?? row
    const probeIds = await probesOfIncidents(trx, [id, ...(await partsOf(trx, id))])
    // Alerts before incidents, as everywhere. What happened to it or joined it meanwhile is visible once they are locked.
    const locked = await lockUnresolved(trx, ctx.store, probeIds)
    const before = await incidentOrThrow(trx, id)
    if (before.state === 'resolved') {
      if (verb === 'resolve') return shown(before)
      throw new AppError('conflict', 'The incident is already resolved')
    }
    const within = new Set([id, ...(await partsOf(trx, id))])
    const taken = await acknowledgedOf(trx, [...within])
    const alerts = locked.filter(({ incident_id }) => incident_id !== null && within.has(incident_id))
    const now = ctx.clock.now()
    const context = await loadContext(trx, { probeIds, mutes: await loadMutes(trx, now), channelSettings, now })
    const by = signedBy(ctx, input.by)
    const said = { type: INPUTS[verb], by, comment: input.comment?.trim() || null } as const
    const pending = alerts.flatMap((alert) => {
      const source = context.sources.get(alert.probe_id)
      // Without a source its probe was just deleted, and upkeep is about to close the alert.
      if (source === undefined) return []
      const isTaken = (one: AlertRow) => one.state === 'acknowledged' && one.incident_id === alert.incident_id
      // What someone acknowledged is resolved, and only what joined later lasts: the acknowledgement is that of the incident.
      const isOfAll = verb === 'unacknowledge' && taken.has(alert.incident_id) && !alerts.some(isTaken)
      const handled = isOfAll ? { ...alert, state: 'acknowledged' } : alert
      return [{ before: alert, transition: transition(handled, said, rulesOf(alert, source, context), now), source }]
    })
    await writeTransitions(trx, ctx.store, pending, context)
    if (before.scope === 'vendor') await handleVendor(trx, ctx, channelSettings, before, said)
    const after = await incidentOrThrow(trx, id)
    const isHandled = pending.some(({ transition: { events } }) => events.length > 0)
    if (after.state !== before.state || isHandled)
      await writeAudit(trx, ctx, [
        { entity: 'incident', verb, id, before: handlingOf(before), after: handlingOf(after) },
      ])
    return shown(after)
  })
}

/** What people change. The rest, such as what was lost, follows from the alerts and may have changed at the same moment. */
function handlingOf(row: IncidentRow) {
  const { client_id, state, acknowledged_at, acknowledged_by, resolved_at } = incidentRecord(row)
  return { client_id, state, acknowledged_at, acknowledged_by, resolved_at }
}

/**
 * Acknowledges a vendor's incident with those of its sites, or resolves it right after them instead of in the next round of
 * `followVendors`.
 */
async function handleVendor(
  trx: Transaction<Tables>,
  { store, clock }: Context,
  channelSettings: ChannelSettings,
  { id, state }: IncidentRow,
  said: Extract<AlertInput, { by: string }>,
): Promise<void> {
  const now = clock.now()
  if (said.type !== 'resolved') {
    const isTaken = said.type === 'acknowledged'
    // As for an alert, the first to acknowledge it stays; a second comment is kept.
    const isNew = isTaken !== (state === 'acknowledged')
    const by = isTaken
      ? { acknowledged_at: now, acknowledged_by: said.by }
      : { acknowledged_at: null, acknowledged_by: null }
    if (isNew)
      await trx
        .updateTable('incidents')
        .set({ state: isTaken ? 'acknowledged' : 'open', ...by })
        .where('id', '=', id)
        // Its last site may have recovered meanwhile.
        .where('state', '<>', 'resolved')
        .execute()
    const text = said.comment ?? (isTaken ? 'Acknowledged' : 'No longer acknowledged')
    if (isNew || (isTaken && said.comment !== null))
      await writeIncidentEvents(trx, [{ incident_id: id, kind: said.type, actor: said.by, text }], now)
  }
  await writeVendor(trx, store, id, channelSettings, now)
}

/** Notes of one incident: its page shows all of them, each twice. */
const MOST_NOTES = 200

/**
 * Adds a note to an incident, whatever its state.
 *
 * @throws AppError `not_found`, or `conflict` when there is no room for more
 */
export async function addNote(ctx: Context, id: string, { text, by }: AddNote): Promise<NoteRecord> {
  return ctx.store.write.transaction().execute(async (trx) => {
    // Locked, so that two that come at once do not both find room for the last.
    await incidentOrThrow(trx, id, ctx.store.isShared)
    const counting = trx
      .selectFrom('incident_notes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incident_id', '=', id)
    await requireRoom(counting, MOST_NOTES, `The incident already has ${MOST_NOTES} notes, the maximum`)
    const at = ctx.clock.now()
    const note = { incident_id: id, id: newOrderedId(at), at, author: signedBy(ctx, by), text: text.trim() }
    await trx.insertInto('incident_notes').values(note).execute()
    await writeIncidentEvents(trx, [{ incident_id: id, kind: 'noted', actor: note.author, text: note.text }], at)
    const record = noteRecord(note)
    await writeAudit(trx, ctx, [{ entity: 'incident', verb: 'note', id, before: null, after: record }])
    return record
  })
}

async function incidentOrThrow(trx: Transaction<Tables>, id: string, locks = false): Promise<IncidentRow> {
  const incident = trx.selectFrom('incidents').selectAll().where('id', '=', id)
  const row = await incident.$if(locks, (query) => query.forUpdate()).executeTakeFirst()
  if (row === undefined) throw notFound('Incident')
  return row
}

async function acknowledgedOf(trx: Transaction<Tables>, ids: readonly string[]): Promise<Set<string | null>> {
  const taken = new Set<string | null>()
  for (const chunk of chunksOf(ids)) {
    const rows = trx.selectFrom('incidents').select('id').where('id', 'in', chunk).where('state', '=', 'acknowledged')
    for (const row of await rows.execute()) taken.add(row.id)
  }
  return taken
}

async function partsOf(trx: Transaction<Tables>, id: string): Promise<string[]> {
  const rows = await trx.selectFrom('incidents').select('id').where('parent_id', '=', id).execute()
  return rows.map((row) => row.id)
}
