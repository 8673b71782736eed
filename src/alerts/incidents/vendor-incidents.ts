import { vendorName } from '../../analytics/index.ts'
import { type Clock, newOrderedId } from '../../lib/index.ts'
import {
  type ChannelSettings,
  enqueue,
  GATHER_MS,
  postponeOpenings,
  type VendorMessage,
  withdrawMessages,
  withdrawVendorEnd,
} from '../../notifications/index.ts'
import { chunksOf, type IncidentRow, type Store, type Tables, type Transaction } from '../../store/index.ts'
import { severityOf } from '../alert-record.ts'
import { entriesOf } from '../message-entries.ts'
import { loadMutes, silenceOf } from '../mutes.ts'
import { loadContext } from '../rules.ts'
import {
  isPartOf,
  joiningOf,
  LEAST_SITES,
  othersText,
  titleFor,
  togetherText,
  type VendorFault,
  vendorFaults,
  vendorTitle,
} from './across-sites.ts'
import { type Case, lockCases, saveCases } from './case.ts'
import { severityOfAll } from './close.ts'
import { dueMessages } from './due-messages.ts'
import { holdsOf } from './falls.ts'
import { lossAndValue, totalOf } from './impact-value.ts'
import { impactIn } from './records.ts'
import { FALLS, LOCKED_OUT_OF } from './sign.ts'
import { faultOf, isEndUnsaid, isUnsaidTo, readVendors, type VendorState } from './vendor-reads.ts'

/**
 * Looks across all sites, on one node every 2 s: what many of them show of one vendor at once becomes one incident of that vendor.
 * The operator's channel gets one message for all; each client is notified of its own sites, and that others are affected too. What is
 * ours or the network's is held back from the clients for a while, see `holdsOf`.
 */
export async function followVendors(
  store: Store,
  channelSettings: ChannelSettings,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const state = await readVendors(store.read, clock.now())
  for (const { id, partIds } of state.back) await reopen(store, channelSettings, id, partIds, clock)
  const joining = state.open.map((fault) => ({
    fault,
    // One that has come back was announced again then.
    signs: joiningOf(
      state.loose.filter((sign) =>
        [fault.row.started_at, fault.row.announced_at ?? fault.row.started_at].some((startedAt) =>
          isPartOf(sign, { ...fault, startedAt }),
        ),
      ),
      fault.clientIds,
    ),
  }))
  for (const { fault, signs } of joining) {
    const isOver = signs.length === 0 && fault.lasting === 0
    const isUnsaid = fault.isCritical && fault.row.notified_severity === 'warning'
    const isMoved = !isOver && (isUnsaid || fault.isCritical !== (fault.row.severity === 'critical'))
    if (signs.length > 0) await gather(store, channelSettings, { ...faultOf(fault), signs }, fault, clock)
    else if (isOver || isMoved || (isUnsaidTo(channelSettings, fault.row) && fault.announced > 0)) {
      await update(store, channelSettings, fault.row.id, clock)
    }
  }
  const taken = new Set(joining.flatMap(({ signs }) => signs.map(({ incidentId }) => incidentId)))
  const free = state.loose.filter(({ incidentId }) => !taken.has(incidentId))
  const found = vendorFaults(free, state.sitesOf)
  for (const fault of found) await gather(store, channelSettings, fault, null, clock)
}

/** Makes sites' incidents parts of a vendor's, creating it if there is none. Sites' incidents are locked before vendors'. */
async function gather(
  store: Store,
  channelSettings: ChannelSettings,
  fault: VendorFault,
  open: VendorState['open'][number] | null,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await store.write.transaction().execute(async (trx) => {
    const ids = fault.signs.map(({ incidentId }) => incidentId)
    const cases = await lockCases(trx, store, { incidentIds: ids, siteIds: [], now: clock.now() })
    // Asked for after the locks: a silence may have begun while this waited for them.
    const now = clock.now()
    const parts = [...cases.values()].filter(({ row }) => row.parent_id === null && row.state !== 'resolved')
    if (parts.length === 0) return
    // Someone may have resolved it since it was read: what is part of it then would be said to no one.
    if (open !== null && (await lockVendor(trx, store, open.row.id, now))?.row.state === 'resolved') return
    const id = open?.row.id ?? newOrderedId(now)
    const clientIds = new Set([...(open?.clientIds ?? []), ...parts.flatMap(({ row }) => row.client_id ?? [])])
    const said = othersText(vendorName(fault.vendor), clientIds)
    for (const part of parts) {
      part.row.parent_id = id
      part.events.push({ kind: 'belongs', actor: null, text: said })
    }
    if (open === null) await insertVendor(trx, id, fault, parts, clientIds, now)
    // The messages look up which clients' sites are parts.
    for (const chunk of chunksOf(parts.map(({ row }) => row.id))) {
      await trx.updateTable('incidents').set({ parent_id: id }).where('id', 'in', chunk).execute()
    }
    await withdrawForOne(trx, parts)
    const heldUntil = (await holdsOf(trx, [id], channelSettings, now)).get(id)
    if (heldUntil !== undefined) await postponeOpenings(trx, voicesOf(parts), now, heldUntil)
    await notifyClients(trx, parts, said, channelSettings, now)
    await saveCases(trx, parts, now)
    await writeVendor(trx, store, id, channelSettings, now)
  })
}

const lockVendor = async (trx: Transaction<Tables>, store: Store, id: string, now: number): Promise<Case | undefined> =>
  (await lockCases(trx, store, { incidentIds: [id], siteIds: [], now })).get(id)

/** Reopens a vendor's incident that is back on many of its sites, so that the operator gets one message for all of them again. */
async function reopen(
  store: Store,
  channelSettings: ChannelSettings,
  id: string,
  partIds: readonly string[],
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await store.write.transaction().execute(async (trx) => {
    const cases = await lockCases(trx, store, { incidentIds: partIds, siteIds: [], now: clock.now() })
    const now = clock.now()
    const back = [...cases.values()].filter(({ row }) => row.parent_id === id && row.state !== 'resolved')
    const vendor = await lockVendor(trx, store, id, now)
    if (vendor?.row.state !== 'resolved' || back.length < LEAST_SITES) return
    const isBelieved = (await withdrawVendorEnd(trx, id)) || (await isEndUnsaid(trx, vendor.row))
    const announced_at = isBelieved ? now : null
    const open = { state: 'open', resolved_at: null, announced_at, acknowledged_at: null, acknowledged_by: null }
    Object.assign(vendor.row, { ...open, impact_due: now })
    vendor.events.push({ kind: 'reopened', actor: null, text: `It is back on ${back.length} of its sites` })
    await saveCases(trx, [vendor], now)
    await withdrawForOne(trx, back)
    await writeVendor(trx, store, id, channelSettings, now)
  })
}

/** Withdraws the operator's pending messages about single sites, as one message covers all. */
const withdrawForOne = (trx: Transaction<Tables>, parts: readonly Case[]): Promise<void> =>
  withdrawMessages(trx, 'global', voicesOf(parts), 'one message covers all sites')

const voicesOf = (parts: readonly Case[]): string[] => parts.flatMap(({ row }) => row.announced_alert_id ?? [])

async function update(store: Store, settings: ChannelSettings, id: string, clock: Pick<Clock, 'now'>): Promise<void> {
  await store.write.transaction().execute((trx) => writeVendor(trx, store, id, settings, clock.now()))
}

async function insertVendor(
  trx: Transaction<Tables>,
  id: string,
  { vendor, failing, startedAt, sites }: VendorFault,
  parts: readonly Case[],
  clientIds: ReadonlySet<string>,
  now: number,
): Promise<void> {
  const title = vendorTitle({ vendor: vendorName(vendor), failing, sites }, parts.length, clientIds)
  const row: IncidentRow = {
    id,
    scope: 'vendor',
    client_id: null,
    site_id: null,
    cause: failing === LOCKED_OUT_OF ? 'own' : failing === FALLS ? 'silence' : 'tag',
    cause_at: null,
    vendor,
    title,
    severity: 'warning',
    state: 'open',
    started_at: startedAt,
    opened_at: now,
    announced_at: null,
    last_announced_at: null,
    last_notified_at: null,
    notified_severity: null,
    announced_alert_id: null,
    acknowledged_at: null,
    acknowledged_by: null,
    resolved_at: null,
    lead_alert_id: parts[0]?.row.lead_alert_id ?? null,
    parent_id: null,
    impact: null,
    impact_due: now,
  }
  const opened: Case = {
    row,
    before: null,
    alerts: new Map(),
    events: [
      { kind: 'opened', actor: null, text: title },
      { kind: 'explained', actor: null, text: togetherText(title, failing) },
    ],
  }
  await saveCases(trx, [opened], now)
}

/** Notifies the clients' own channels that other sites are affected. The operator gets one message for all. */
async function notifyClients(
  trx: Transaction<Tables>,
  parts: readonly Case[],
  note: string,
  channelSettings: ChannelSettings,
  now: number,
): Promise<void> {
  const probeIds = parts.flatMap(({ row, alerts }) => alerts.get(row.announced_alert_id ?? '')?.probe_id ?? [])
  const context = await loadContext(trx, { probeIds, mutes: await loadMutes(trx, now), channelSettings, now })
  const intents = parts.map((known) => ({ known, kind: 'explained' as const, note, move: null, ending: null }))
  const due = await dueMessages(trx, intents, [], context)
  const own = await entriesOf(trx, due, channelSettings, now)
  const reached = new Set(own.map(({ alertId }) => alertId))
  for (const { alert, known } of due) if (reached.has(alert.id)) known.row.last_announced_at = now
  await enqueue(trx, own, now)
}

/** Updates a vendor's incident from its parts, and notifies the operator that it began or ended. */
export async function writeVendor(
  trx: Transaction<Tables>,
  { isShared }: Pick<Store, 'isShared'>,
  id: string,
  channelSettings: ChannelSettings,
  now: number,
): Promise<void> {
  const { globalWebhook } = channelSettings
  const before = await trx
    .selectFrom('incidents')
    .selectAll()
    .where('id', '=', id)
    .where('state', '<>', 'resolved')
    .$if(isShared, (query) => query.forUpdate())
    .executeTakeFirst()
  if (before === undefined) return
  const parts = await trx
    .selectFrom('incidents')
    .leftJoin('sites', 'sites.id', 'incidents.site_id')
    .leftJoin('clients', 'clients.id', 'incidents.client_id')
    .select(['incidents.state', 'incidents.severity', 'incidents.started_at', 'incidents.announced_at'])
    .select(['incidents.resolved_at', 'incidents.impact', 'incidents.client_id'])
    .select(['sites.name as site', 'clients.name as client'])
    .where('incidents.parent_id', '=', id)
    .orderBy('incidents.started_at')
    .execute()
  const lasting = parts.filter(({ state }) => state !== 'resolved')
  const known: Case = { row: { ...before }, before, alerts: new Map(), events: [] }
  const { row, events } = known
  row.started_at = Math.min(row.started_at, ...parts.map(({ started_at }) => started_at))
  // When none of its sites is left it keeps its title.
  if (parts.length > 0) row.title = titleFor(before.title, parts.length)
  row.severity = severityOfAll(lasting.length === 0 ? [row, ...parts] : lasting)
  if (before.severity !== 'critical' && row.severity === 'critical')
    events.push({ kind: 'escalated', actor: null, text: 'Critical on one of its sites' })
  const says: VendorMessage['kind'][] = []
  // Of its sites' escalations the operator gets none.
  const isUnsaid = isUnsaidTo(channelSettings, row)
  const isNews = isUnsaid
    ? lasting.some(({ announced_at }) => announced_at !== null)
    : row.notified_severity === 'warning' && row.severity === 'critical' && lasting.length > 0
  // A silence until it is resolved has ended together with the last of its sites.
  const ends = lasting.length > 0 ? [] : parts.map(({ resolved_at }) => (resolved_at ?? now) - 1)
  const isMuted = silenceOf(await loadMutes(trx, ends.length === 0 ? now : Math.max(...ends)), id) !== null
  if (isNews && !isMuted) {
    Object.assign(row, { announced_at: isUnsaid ? now : row.announced_at, notified_severity: row.severity })
    if (globalWebhook !== null) row.last_announced_at = now
    says.push('vendor_opened')
  }
  if (lasting.length === 0) {
    Object.assign(row, { state: 'resolved', resolved_at: now, impact_due: now })
    const text = parts.length === 0 ? 'No site is left in it' : `The last of ${parts.length} sites has recovered`
    events.push({ kind: 'resolved', actor: null, text })
    if (!isUnsaidTo(channelSettings, row) && !isMuted) says.push('vendor_resolved')
    if (isMuted) events.push({ kind: 'suppressed', actor: null, text: 'No notification: silenced' })
  }
  await saveCases(trx, [known], now)
  if (globalWebhook === null) return
  const entries = says.map((kind) => ({
    channel: { key: 'global' as const, address: globalWebhook },
    clientId: null,
    alertId: null,
    incidentId: id,
    // Gives the count of what the sites have lost time to finish.
    holdMs: GATHER_MS,
    message: vendorMessage(kind, row, parts),
  }))
  await enqueue(trx, entries, now)
}

type Part = Pick<IncidentRow, 'client_id' | 'started_at' | 'impact'> & { client: string | null; site: string | null }

function vendorMessage(kind: VendorMessage['kind'], row: IncidentRow, parts: readonly Part[]): VendorMessage {
  const { id, title, started_at, resolved_at } = row
  const impact = totalOf(parts.flatMap((part) => impactIn(part.impact) ?? []))
  const text = impact === null ? null : lossAndValue(impact)
  const lost = text === null ? null : { text, final: kind === 'vendor_resolved' }
  return {
    kind,
    vendor: vendorName(row.vendor ?? ''),
    ...(row.cause === 'own' ? { isOwn: true } : {}),
    ...(row.cause === 'silence' ? { isFall: true } : {}),
    incident: { id, title, severity: severityOf(row), started_at, resolved_at, impact: lost },
    clients: new Set(parts.map(({ client_id }) => client_id)).size,
    sites: parts.map((part) => ({ client: part.client ?? '', site: part.site ?? '', since: part.started_at })),
  }
}
