import {
  IDENTIFIER_COLUMNS,
  RESPONSE_COLUMNS,
  SIGNAL_COLUMNS,
  TAG_SIGNAL_COLUMNS,
  VALIDITY_COLUMNS,
} from '../rollups/index.ts'
import type { SignalCounts, TagSignalCounts } from '../store/index.ts'
import { type Presence, presence } from './score.ts'
import type { Snapshot } from './snapshot.ts'
import { addSums, byCountThenKey, type Sums, sumByInTurns, sumWindow, zeroSums } from './sums.ts'
import type { TagIdentity } from './tag-identity.ts'
import type { ReportWindow } from './window.ts'

/** The purposes of Google's consent mode, by Google's names. */
const PURPOSES = ['ad_storage', 'analytics_storage', 'ad_user_data', 'ad_personalization'] as const
type Purpose = (typeof PURPOSES)[number]

/** Events by their consent to one purpose. */
interface ConsentClasses {
  granted: number
  denied: number
  /** Their signals do not mention the purpose. */
  absent: number
}

/** Consent of a window's events. */
interface ConsentReport extends Record<Purpose, ConsentClasses> {
  /** Events that reported consent, even if only that there is no signal: the base of everything here. */
  total: number
  /** On how many events no choice followed the default, out of those that report it. */
  never_updated: Presence
  /** Events of visitors to whom the Digital Markets Act applies. */
  dma: number
  /** Tags that ran although consent was denied, the most frequent first. */
  tags: TagConsent[]
}

interface TagConsent {
  tag_key: string
  /** Executions on events that reported consent. */
  total: number
  ad_storage_denied: number
  analytics_storage_denied: number
}

export function classesOf(sums: SignalCounts, purpose: Purpose): ConsentClasses {
  const granted = sums[`${purpose}_granted`]
  const denied = sums[`${purpose}_denied`]
  return { granted, denied, absent: sums.consent_total - granted - denied }
}

function consentReport(sums: SignalCounts, tags: ReadonlyMap<string, TagSignalCounts>): ConsentReport {
  return {
    total: sums.consent_total,
    ad_storage: classesOf(sums, 'ad_storage'),
    analytics_storage: classesOf(sums, 'analytics_storage'),
    ad_user_data: classesOf(sums, 'ad_user_data'),
    ad_personalization: classesOf(sums, 'ad_personalization'),
    never_updated: presence(sums.never_updated, sums.update_known),
    dma: sums.dma,
    tags: deniedTags(tags),
  }
}

function deniedTags(tags: ReadonlyMap<string, TagSignalCounts>): TagConsent[] {
  return Array.from(tags, ([tag_key, { consent_total, ad_storage_denied, analytics_storage_denied }]) => ({
    tag_key,
    total: consent_total,
    ad_storage_denied,
    analytics_storage_denied,
  }))
    .filter((tag) => tag.ad_storage_denied > 0 || tag.analytics_storage_denied > 0)
    .sort(
      byCountThenKey(
        (tag) => Math.max(tag.ad_storage_denied, tag.analytics_storage_denied),
        (tag) => tag.tag_key,
      ),
    )
}

/** A vendor's answers to one tag. */
interface TagResponses extends Sums<(typeof RESPONSE_COLUMNS)[number]> {
  tag_key: string
  /** Executions whose answer the tag reported. */
  total: number
}

/** Vendors' answers to the tags that report them. */
interface ResponseReport {
  total: number
  /** Tags with the most refused executions first. */
  tags: TagResponses[]
}

type Responses = Pick<TagSignalCounts, (typeof RESPONSE_COLUMNS)[number]>

/** Executions whose answer is known. */
export const answered = (counts: Responses): number => RESPONSE_COLUMNS.reduce((sum, column) => sum + counts[column], 0)

/** Executions that the vendor refused or did not answer. */
export const refused = (counts: Responses): number => counts.response_4xx + counts.response_5xx + counts.response_none

function responseReport(tags: ReadonlyMap<string, TagSignalCounts>): ResponseReport {
  const reports = Array.from(tags, ([tag_key, counts]): TagResponses => {
    const { response_2xx, response_3xx, response_4xx, response_5xx, response_none } = counts
    return { tag_key, total: answered(counts), response_2xx, response_3xx, response_4xx, response_5xx, response_none }
  }).filter(({ total }) => total > 0)
  return {
    total: reports.reduce((sum, { total }) => sum + total, 0),
    tags: reports.sort(byCountThenKey<TagResponses>(refused, ({ tag_key }) => tag_key)),
  }
}

/** What a window's events reported besides counts and presence flags. */
export interface SignalReport {
  consent: ConsentReport
  /** How many events carry each identifier, out of those that reported identifiers. */
  identifiers: { total: number } & Record<(typeof IDENTIFIER_COLUMNS)[number], Presence>
  /** How many commerce events have each fault, out of those that were checked. */
  validity: { total: number } & Record<(typeof VALIDITY_COLUMNS)[number], Presence>
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
    identifiers: { total: sums.identifiers_total, ...presences(IDENTIFIER_COLUMNS, sums, sums.identifiers_total) },
    validity: { total: sums.validity_total, ...presences(VALIDITY_COLUMNS, sums, sums.validity_total) },
    responses: responseReport(tags),
  }
}

const presences = <F extends keyof SignalCounts>(fields: readonly F[], sums: SignalCounts, total: number) =>
  Object.fromEntries(fields.map((field) => [field, presence(sums[field], total)])) as Record<F, Presence>

async function signalSums(snapshot: Snapshot, window: ReportWindow): Promise<SignalCounts> {
  const rows = await sumWindow(snapshot, window, 'signal_rollups', [], SIGNAL_COLUMNS)
  const sums = zeroSums(SIGNAL_COLUMNS)
  for (const row of rows) addSums(sums, row, SIGNAL_COLUMNS)
  return sums
}

async function tagSignalSums(
  snapshot: Snapshot,
  window: ReportWindow,
  identity: TagIdentity,
): Promise<Map<string, TagSignalCounts>> {
  const rows = await sumWindow(snapshot, window, 'tag_signal_rollups', ['container_id', 'tag_key'], TAG_SIGNAL_COLUMNS)
  return sumByInTurns(rows, TAG_SIGNAL_COLUMNS, (row) => identity.keyOf(row.container_id, row.tag_key))
}
