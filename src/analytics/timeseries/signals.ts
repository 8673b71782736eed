import { FIELD_COLUMNS, IDENTIFIER_COLUMNS, SIGNAL_COLUMNS, VALIDITY_COLUMNS } from '../../rollups/index.ts'
import { ratio } from '../score.ts'
import { classesOf } from '../signals.ts'
import { isOneOf, type Sums, totals } from '../sums.ts'
import { type Cells, cellsBy, type Series, seriesOf } from './plan.ts'
import { readBuckets, type SeriesContext } from './read.ts'

type SignalSums = Sums<(typeof SIGNAL_COLUMNS)[number]>
type Figure = (sums: SignalSums) => number

const consentTotal: Figure = (sums) => sums.consent_total
const withSignal: Figure = (sums) => sums.consent_total - classesOf(sums, 'ad_storage').absent

/** Numerators of shares of the events that reported consent. */
const CONSENT_SHARES: Readonly<Record<string, Figure>> = {
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

/** Consent of events: the share with any signal (0–1), or the share of each class. */
export async function consentSeries(context: SeriesContext): Promise<Series[]> {
  const share = await sharesIn(context)
  if (context.query.group_by !== 'field') return [share(context.query.metric, withSignal, consentTotal)]
  const neverUpdated = share(
    'never_updated',
    (sums) => sums.never_updated,
    (sums) => sums.update_known,
  )
  return [...Object.entries(CONSENT_SHARES).map(([key, part]) => share(key, part, consentTotal)), neverUpdated]
}

/** Share of the events that carry an event id, or each identifier. */
export async function identifierSeries(context: SeriesContext): Promise<Series[]> {
  const share = await sharesIn(context)
  const base: Figure = (sums) => sums.identifiers_total
  if (context.query.group_by !== 'field') return [share(context.query.metric, (sums) => sums.event_id, base)]
  return IDENTIFIER_COLUMNS.map((field) => share(field, (sums) => sums[field], base))
}

/** Share of the commerce events with an unusable value, or with each fault. */
export async function validitySeries(context: SeriesContext): Promise<Series[]> {
  const share = await sharesIn(context)
  const base: Figure = (sums) => sums.validity_total
  if (context.query.group_by !== 'field') {
    return [share(context.query.metric, (sums) => sums.value_zero + sums.value_invalid, base)]
  }
  return VALIDITY_COLUMNS.map((field) => share(field, (sums) => sums[field], base))
}

/** Returns a function that makes a series of shares from the query's counts. */
async function sharesIn(context: SeriesContext): Promise<(key: string, part: Figure, base: Figure) => Series> {
  const { query, buckets } = context
  const rows = await readBuckets(context, {
    table: 'signal_rollups',
    by: [],
    measures: totals(SIGNAL_COLUMNS),
    where: query.event_name === undefined ? undefined : isOneOf('event_name', [query.event_name]),
  })
  const cells = cellsBy(rows, buckets.starts, SIGNAL_COLUMNS, () => query.metric).get(query.metric) ?? []
  return (key, part, base) =>
    seriesOf(key, buckets.starts, cells, SIGNAL_COLUMNS, (sums) => ratio(part(sums), base(sums)), base)
}

/** Share of the events (0–1) on which own parameters were present: over all parameters, or each. */
export async function ownFieldSeries(context: SeriesContext): Promise<Series[]> {
  const { query, buckets } = context
  const where = query.event_name === undefined ? undefined : isOneOf('event_name', [query.event_name])
  const measures = totals(FIELD_COLUMNS)
  const share = (key: string, cells: Cells<(typeof FIELD_COLUMNS)[number]> = []) =>
    seriesOf(
      key,
      buckets.starts,
      cells,
      FIELD_COLUMNS,
      ({ present, total }) => ratio(present, total),
      ({ total }) => total,
    )
  if (query.group_by !== 'field') {
    const rows = await readBuckets(context, { table: 'field_rollups', by: [], measures, where })
    return [share(query.metric, cellsBy(rows, buckets.starts, FIELD_COLUMNS, () => query.metric).get(query.metric))]
  }
  const rows = await readBuckets(context, { table: 'field_rollups', by: ['field'], measures, where })
  const cells = cellsBy(rows, buckets.starts, FIELD_COLUMNS, ({ field }) => field)
  return [...cells.keys()].sort().map((field) => share(field, cells.get(field)))
}
