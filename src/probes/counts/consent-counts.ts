import { addSums, type Snapshot, type Stretch, sumStretches, totals, zeroSums } from '../../analytics/index.ts'
import type {
  ConsentField,
  ConsentInput,
  FieldCounts,
  PresenceBucket,
  PresenceHistory,
  TagConsentHistory,
} from '../../detection/index.ts'
import { DAY, HOUR } from '../../lib/index.ts'
import { GRAIN, SIGNAL_COLUMNS, TAG_SIGNAL_COLUMNS, type TimeRange } from '../../rollups/index.ts'
import { earlierRange, type SignalSums, usualRange, wholeAt } from './presence-counts.ts'
import { readTagSignals, type TagHistory } from './tag-counts.ts'
import { SLOT, type Timeline } from './timeline.ts'

type TagSignals = TagHistory<(typeof TAG_SIGNAL_COLUMNS)[number]>

/** What a site's events and tags said of consent: in the buckets of the timeline, by the hour in the week before, and of events by the day in the three weeks before that. */
export async function readConsent(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
): Promise<Omit<ConsentInput, 'now'>> {
  const { buckets, slotsFrom } = timeline
  const usual = usualRange(timeline)
  const rowsOf = (stretches: readonly Stretch[], length: number, slotEnd: number) =>
    sumStretches(snapshot, {
      table: 'signal_rollups',
      stretches,
      by: [],
      measures: totals(SIGNAL_COLUMNS),
      slots: { length, end: slotEnd },
    })
  const recentRows = await rowsOf(
    [
      { from: buckets[0]?.from ?? end, to: slotsFrom, coarsest: GRAIN.hour },
      { from: slotsFrom, to: end, coarsest: GRAIN.minute },
    ],
    SLOT,
    end,
  )
  const usualRows = await rowsOf([{ ...usual, coarsest: GRAIN.hour }], HOUR, usual.to)
  const earlier = earlierRange(timeline)
  const earlierRows = await rowsOf([{ ...earlier, coarsest: GRAIN.day }], DAY, earlier.to)
  const events: PresenceHistory<ConsentField> = {
    event_name: null,
    recent: bucketsOf(recentRows, (at) => buckets[timeline.indexAt(at)]),
    usual: bucketsOf(usualRows, wholeAt(HOUR)),
    earlier: bucketsOf(earlierRows, wholeAt(DAY)),
  }
  const before = sumOf(usualRows)
  const shareOf = (denied: number) => (before.consent_total === 0 ? null : denied / before.consent_total)
  // Where no event says anything, no tag does.
  const hasAny = recentRows.length + usualRows.length > 0
  const tags: ReadonlyMap<string, TagSignals> = hasAny
    ? await readTagSignals(snapshot, timeline, end, TAG_SIGNAL_COLUMNS, [usual])
    : new Map()
  return {
    events,
    tags: Array.from(tags, ([tag_key, { recent, earlier }]) => ({
      tag_key,
      recent: recent.map(deniedIn),
      earlier: earlier.map(deniedIn),
    })),
    usual_denied: {
      ad_storage: shareOf(before.ad_storage_denied),
      analytics_storage: shareOf(before.analytics_storage_denied),
    },
  }
}

const deniedIn = ({ from, to, ...sums }: TagSignals['recent'][number]): TagConsentHistory['recent'][number] => ({
  from,
  to,
  fields: {
    ad_storage: { present: sums.ad_storage_denied, total: sums.consent_total },
    analytics_storage: { present: sums.analytics_storage_denied, total: sums.consent_total },
  },
})

function bucketsOf(
  rows: readonly (SignalSums & { at: number })[],
  bucketAt: (at: number) => TimeRange | undefined,
): PresenceBucket<ConsentField>[] {
  const known = new Map<number, { range: TimeRange; sums: SignalSums }>()
  for (const row of rows) {
    const range = bucketAt(row.at)
    if (range === undefined) continue
    const bucket = known.get(range.from) ?? { range, sums: zeroSums(SIGNAL_COLUMNS) }
    addSums(bucket.sums, row, SIGNAL_COLUMNS)
    known.set(range.from, bucket)
  }
  return Array.from(known.values(), ({ range, sums }) => ({ ...range, fields: fieldsOf(sums) })).toSorted(
    (a, b) => a.from - b.from,
  )
}

function fieldsOf(sums: SignalSums): FieldCounts<ConsentField> {
  const ads = sums.ad_storage_granted + sums.ad_storage_denied
  const analytics = sums.analytics_storage_granted + sums.analytics_storage_denied
  return {
    // Some say one of the two only.
    signal: { present: Math.max(ads, analytics), total: sums.consent_total },
    update: { present: sums.update_known - sums.never_updated, total: sums.update_known },
    ad_storage: { present: sums.ad_storage_granted, total: ads },
    analytics_storage: { present: sums.analytics_storage_granted, total: analytics },
    refusal: { present: sums.ad_storage_denied, total: ads },
  }
}

function sumOf(rows: readonly SignalSums[]): SignalSums {
  const sums = zeroSums(SIGNAL_COLUMNS)
  for (const row of rows) addSums(sums, row, SIGNAL_COLUMNS)
  return sums
}
