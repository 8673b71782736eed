import { type Static, Type } from 'typebox'
import { IsoTime, model, NOT_BLANK, nullable, Uuid } from '../http/index.ts'
import { isoTime } from '../lib/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type Comparison, capturedShare } from './compare.ts'
import { COUNT_MAX, EVENT_LENGTH_MAX, ROWS_MAX, SOURCE_LENGTH_MAX } from './given-counts.ts'
import type { Added, ReferenceSeries } from './reference-counts.ts'
import type { Pair, Reconciliation } from './report.ts'

export const SourceName = Type.String({
  ...NOT_BLANK,
  maxLength: SOURCE_LENGTH_MAX,
  description: 'Name of the system that counted: `shop`',
})
export const EventName = Type.String({
  ...NOT_BLANK,
  maxLength: EVENT_LENGTH_MAX,
  description: 'Name of the event as the tag sends it: `purchase`',
})

export const SiteParams = Type.Object({ site_id: Uuid })
export const SourceParams = Type.Object({ site_id: Uuid, source: SourceName })

const Given = Type.Object(
  {
    source: SourceName,
    event: EventName,
    hour: Type.Unsafe<string>({
      ...IsoTime,
      description: 'Start of an hour in UTC, within the time for which counts are kept: `2026-11-20T14:00:00Z`',
    }),
    count: Type.Integer({
      minimum: 0,
      maximum: COUNT_MAX,
      description: '0 if there were none, which differs from sending no count',
    }),
  },
  { additionalProperties: false },
)

export const AddReferenceCounts = Type.Object(
  { counts: Type.Array(Given, { minItems: 1, maxItems: ROWS_MAX }) },
  { additionalProperties: false },
)
export type AddReferenceCounts = Static<typeof AddReferenceCounts>

export const AddQuery = Type.Object(
  {
    source: Type.Optional(
      Type.Unsafe<string>({ ...SourceName, description: 'The source of a CSV without that column' }),
    ),
  },
  { additionalProperties: false },
)

const events = Type.Array(Type.String(), { description: 'Names of the events' })

export const AddedRecord = Type.Object({
  source: Type.String(),
  events,
  hours: Type.Integer({ description: 'Number of counts that were written' }),
  first_hour: IsoTime,
  last_hour: IsoTime,
})
export type AddedRecord = Static<typeof AddedRecord>

export const ReferenceRecord = model('ReferenceCounts', {
  source: Type.String(),
  event: Type.String(),
  hours: Type.Integer({ description: 'Number of hours that have a count' }),
  total: Type.Number(),
  first_hour: IsoTime,
  last_hour: IsoTime,
})
export type ReferenceRecord = Static<typeof ReferenceRecord>

const DAYS_MAX = 90
export const DEFAULT_DAYS = 30

export const ReconciliationQuery = Type.Object(
  {
    source: SourceName,
    event: EventName,
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: DAYS_MAX,
        default: DEFAULT_DAYS,
        description: 'Number of days, including today',
      }),
    ),
  },
  { additionalProperties: false },
)

const compared = {
  reference: nullable(
    Type.Number({ description: 'What the source counted in the compared hours; null when there are none' }),
  ),
  counted: nullable(Type.Number({ description: 'What was counted here in the same hours' })),
  captured: nullable(
    Type.Number({
      minimum: 0,
      description: '`counted` / `reference`: above 1, more was counted here; null when `reference` is 0 or null',
    }),
  ),
  compared_hours: Type.Integer({ description: 'Past hours that have a reference, without `unknown_hours`' }),
  missing_hours: Type.Integer({
    description: 'Past hours for which the source reported nothing, not even 0',
  }),
  counted_in_missing: Type.Number({ description: 'What was counted here in `missing_hours`' }),
  unknown_hours: Type.Integer({
    description:
      'Hours that have a reference but are not compared, because this service was down, or the site was paused or did not exist yet',
  }),
}

export const ReconciliationAnswer = model('Reconciliation', {
  site_id: Uuid,
  source: Type.String(),
  event: Type.String(),
  timezone: Type.String(),
  ...compared,
  shift: nullable(
    Type.Object({
      hours: Type.Integer({ description: "Hours by which the source's hours are ahead of UTC; 0 is correct" }),
      correlation: Type.Number({ description: 'Rank correlation of the hourly counts once the shift is undone' }),
      next_correlation: Type.Number({ description: 'Rank correlation of the next best shift' }),
      compared_hours: Type.Integer(),
      message: nullable(Type.String({ description: 'The shift in words; null when it is 0' })),
    }),
  ),
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date', description: "Calendar day of the site's time zone" }),
      from: IsoTime,
      to: IsoTime,
      is_over: Type.Boolean(),
      ...compared,
    }),
    { description: 'Oldest first; today up to its last past hour' },
  ),
})
export type ReconciliationAnswer = Static<typeof ReconciliationAnswer>

export const addedRecord = ({ first, last, ...added }: Added): AddedRecord => ({
  ...added,
  first_hour: isoTime(first),
  last_hour: isoTime(last),
})

export const referenceRecord = ({ first, last, ...series }: ReferenceSeries): ReferenceRecord => ({
  ...series,
  first_hour: isoTime(first),
  last_hour: isoTime(last),
})

export const reconciliationAnswer = (
  site: SiteRow,
  { source, event }: Pair,
  { days, whole, shift, shiftWords }: Reconciliation,
): ReconciliationAnswer => ({
  site_id: site.id,
  source,
  event,
  timezone: site.timezone,
  ...comparedAnswer(whole),
  shift:
    shift === null
      ? null
      : {
          hours: shift.hours,
          correlation: shift.correlation,
          next_correlation: shift.nextCorrelation,
          compared_hours: shift.comparedHours,
          message: shiftWords,
        },
  days: days.map(({ day, from, to, isOver, ...comparison }) => ({
    day,
    from: isoTime(from),
    to: isoTime(to),
    is_over: isOver,
    ...comparedAnswer(comparison),
  })),
})

const comparedAnswer = (comparison: Comparison) => {
  const { comparedHours, reference, counted, missingHours, countedInMissing, unknownHours } = comparison
  const isKnown = comparedHours > 0
  return {
    reference: isKnown ? reference : null,
    counted: isKnown ? counted : null,
    captured: capturedShare(comparison),
    compared_hours: comparedHours,
    missing_hours: missingHours,
    counted_in_missing: countedInMissing,
    unknown_hours: unknownHours,
  }
}
