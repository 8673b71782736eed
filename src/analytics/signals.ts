import { GRAIN, SIGNAL_COLUMNS, TAG_SIGNAL_COLUMNS } from '../rollups/index.ts'
import type { SignalCounts, TagSignalCounts } from '../store/index.ts'
import { type ConsentReport, consentReport } from './consent.ts'
import { type ResponseReport, responseReport } from './responses.ts'
import { type Presence, presence } from './score.ts'
import type { Snapshot } from './snapshot.ts'
import { addSums, sumByInTurns, sumRollups, totals, zeroSums } from './sums.ts'
import type { TagIdentity } from './tag-identity.ts'
import type { ReportWindow } from './window.ts'

export const IDENTIFIERS = ['event_id', 'client_id', 'fbp', 'fbc', 'click_id', 'ip', 'user_agent'] as const
export const VALIDITY = [
  'value_zero',
  'value_invalid',
  'currency_invalid',
  'transaction_duplicate',
  'items_empty',
] as const

/** What the events of a window said beside their counts and presence flags. */
export interface SignalReport {
  consent: ConsentReport
  /** Of the events that reported identifiers, how many carry each. */
  identifiers: { total: number } & Record<(typeof IDENTIFIERS)[number], Presence>
  /** Of the commerce events whose fields were looked at, how many have each fault. */
  validity: { total: number } & Record<(typeof VALIDITY)[number], Presence>
  responses: ResponseReport
}

export async function signalReport(
  snapshot: Snapshot,
  window: ReportWindow,
  identity: TagIdentity,
): Promise<SignalReport> {
  const sums = await signalSums(snapshot, window)
  const tags = await tagSignalSums(snapshot, window, identity)
  return {
    consent: consentReport(sums, tags),
    identifiers: { total: sums.identifiers_total, ...presences(IDENTIFIERS, sums, sums.identifiers_total) },
    validity: { total: sums.validity_total, ...presences(VALIDITY, sums, sums.validity_total) },
    responses: responseReport(tags),
  }
}

const presences = <F extends keyof SignalCounts>(fields: readonly F[], sums: SignalCounts, total: number) =>
  Object.fromEntries(fields.map((field) => [field, presence(sums[field], total)])) as Record<F, Presence>

async function signalSums(snapshot: Snapshot, window: ReportWindow): Promise<SignalCounts> {
  const rows = await sumRollups(snapshot.db, {
    table: 'signal_rollups',
    siteNo: snapshot.siteNo,
    budget: snapshot.budget,
    segments: snapshot.segments(window.range, window.rows(GRAIN.day)),
    by: [],
    measures: totals(SIGNAL_COLUMNS),
  })
  const sums = zeroSums(SIGNAL_COLUMNS)
  for (const row of rows) addSums(sums, row, SIGNAL_COLUMNS)
  return sums
}

async function tagSignalSums(
  snapshot: Snapshot,
  window: ReportWindow,
  identity: TagIdentity,
): Promise<Map<string, TagSignalCounts>> {
  const rows = await sumRollups(snapshot.db, {
    table: 'tag_signal_rollups',
    siteNo: snapshot.siteNo,
    budget: snapshot.budget,
    segments: snapshot.segments(window.range, window.rows(GRAIN.day)),
    by: ['container_id', 'tag_key'],
    measures: totals(TAG_SIGNAL_COLUMNS),
  })
  return sumByInTurns(rows, TAG_SIGNAL_COLUMNS, (row) => identity.keyOf(row.container_id, row.tag_key))
}
