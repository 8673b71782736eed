import { SIGNAL_COLUMNS } from '../../rollups/index.ts'
import { classesOf } from '../consent.ts'
import { ratio } from '../score.ts'
import { isOneOf, type Sums, totals } from '../sums.ts'
import { cellsBy, type Series, seriesOf } from './plan.ts'
import { readBuckets, type SeriesContext } from './read.ts'

type SignalSums = Sums<(typeof SIGNAL_COLUMNS)[number]>

const ALL = ''

const reported = (sums: SignalSums): number => sums.consent_total

/** Shares of the events that reported consent. */
const SHARES: Readonly<Record<string, (sums: SignalSums) => number>> = {
  ad_storage_granted: (sums) => sums.ad_storage_granted,
  ad_storage_denied: (sums) => sums.ad_storage_denied,
  ad_storage_absent: (sums) => classesOf(sums, 'ad_storage').absent,
  analytics_storage_granted: (sums) => sums.analytics_storage_granted,
  analytics_storage_denied: (sums) => sums.analytics_storage_denied,
  analytics_storage_absent: (sums) => classesOf(sums, 'analytics_storage').absent,
  ad_user_data_granted: (sums) => sums.ad_user_data_granted,
  ad_user_data_denied: (sums) => sums.ad_user_data_denied,
  ad_personalization_granted: (sums) => sums.ad_personalization_granted,
  ad_personalization_denied: (sums) => sums.ad_personalization_denied,
}

/** What events said of consent: the share with any signal (0–1), or the share of each class. */
export async function consentSeries(context: SeriesContext): Promise<Series[]> {
  const { query, buckets } = context
  const rows = await readBuckets(context, {
    table: 'signal_rollups',
    by: [],
    measures: totals(SIGNAL_COLUMNS),
    where: query.event_name === undefined ? undefined : isOneOf('event_name', [query.event_name]),
  })
  const cells = cellsBy(rows, buckets.starts, SIGNAL_COLUMNS, () => ALL).get(ALL) ?? []
  const share = (key: string, part: (sums: SignalSums) => number, base = reported): Series =>
    seriesOf(key, buckets.starts, cells, SIGNAL_COLUMNS, (sums) => ratio(part(sums), base(sums)), base)
  if (query.group_by !== 'field') {
    return [share(query.metric, (sums) => sums.consent_total - classesOf(sums, 'ad_storage').absent)]
  }
  const neverUpdated = share(
    'never_updated',
    (sums) => sums.never_updated,
    (sums) => sums.update_known,
  )
  return [...Object.entries(SHARES).map(([key, part]) => share(key, part)), neverUpdated]
}
