import type { Snapshot, Sums } from '../../analytics/index.ts'
import {
  type ConsentField,
  type ConsentWeeks,
  deniedShares,
  type FieldCounts,
  type PresenceBucket,
  type Purpose,
  type TagConsentHistory,
} from '../../detection/index.ts'
import type { TAG_SIGNAL_COLUMNS } from '../../rollups/index.ts'
import { ALL_EVENTS, type SignalColumn, signalReaderOfAll, usualRange } from './presence-counts.ts'
import { readTagHours, readTagSignals, type TagBucket } from './tag-counts.ts'
import type { Timeline } from './timeline.ts'

const COLUMNS = [
  'consent_total',
  'ad_storage_denied',
  'analytics_storage_denied',
] as const satisfies readonly (typeof TAG_SIGNAL_COLUMNS)[number][]

const SIGNALS = [
  'consent_total',
  'ad_storage_granted',
  'ad_storage_denied',
  'analytics_storage_granted',
  'analytics_storage_denied',
  'update_known',
  'never_updated',
] as const satisfies readonly SignalColumn[]

const events = signalReaderOfAll(SIGNALS, fieldsOf)

/** Consent of a site's events and tags in the last day. */
export interface RecentConsent {
  events: readonly PresenceBucket<ConsentField>[]
  tags: readonly TagConsentHistory[]
}

export async function readConsent(snapshot: Snapshot, timeline: Timeline, end: number): Promise<RecentConsent> {
  const ofEvents = (await events.recent(snapshot, timeline, end)).get(ALL_EVENTS) ?? []
  // Tags take consent from their events, so without any there is nothing to read.
  if (ofEvents.length === 0) return { events: [], tags: [] }
  const tags = await readTagSignals(snapshot, timeline, end, COLUMNS)
  return {
    events: ofEvents,
    tags: Array.from(tags, ([tag_key, recent]) => ({ tag_key, recent: recent.map(deniedIn) })),
  }
}

/** The week before that day by the hour, and for events also the three weeks before it by the day. */
export async function readConsentWeeks(snapshot: Snapshot, end: number): Promise<ConsentWeeks> {
  const weeks = (await events.weeks(snapshot, end, true)).get(ALL_EVENTS) ?? { usual: [] }
  const tags =
    weeks.usual.length === 0
      ? new Map<string, TagBucket<(typeof COLUMNS)[number]>[]>()
      : await readTagHours(snapshot, 'tag_signal_rollups', [usualRange(end)], COLUMNS)
  return {
    events: weeks,
    tags: new Map(Array.from(tags, ([key, hours]) => [key, hours.map(deniedIn)])),
    denied: deniedShares(weeks.usual),
  }
}

const deniedIn = ({ from, to, ...sums }: TagBucket<(typeof COLUMNS)[number]>): PresenceBucket<Purpose> => ({
  from,
  to,
  fields: {
    ad_storage: { present: sums.ad_storage_denied, total: sums.consent_total },
    analytics_storage: { present: sums.analytics_storage_denied, total: sums.consent_total },
  },
})

function fieldsOf(sums: Sums<(typeof SIGNALS)[number]>): FieldCounts<ConsentField> {
  const ads = sums.ad_storage_granted + sums.ad_storage_denied
  const analytics = sums.analytics_storage_granted + sums.analytics_storage_denied
  return {
    // Some senders report only one of the two.
    signal: { present: Math.max(ads, analytics), total: sums.consent_total },
    update: { present: sums.update_known - sums.never_updated, total: sums.update_known },
    ad_storage: { present: sums.ad_storage_granted, total: ads },
    analytics_storage: { present: sums.analytics_storage_granted, total: analytics },
    refusal: { present: sums.ad_storage_denied, total: ads },
  }
}
