import { type Static, Type } from 'typebox'
import { EXPECTS, IsoTime, nullable, Uuid } from '../http/index.ts'
import { isoTime } from '../lib/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type Comparison, capturedShare } from './compare.ts'
import { COUNT_MAX, EVENT_LENGTH_MAX, ROWS_MAX, SOURCE_LENGTH_MAX } from './given-counts.ts'
import type { Added, ReferenceSeries } from './reference-counts.ts'
import type { Pair, Reconciliation } from './report.ts'

const NOT_BLANK = { minLength: 1, pattern: '\\S', [EXPECTS]: 'text that is not blank' }

export const SourceName = Type.String({
  ...NOT_BLANK,
  maxLength: SOURCE_LENGTH_MAX,
  description: 'Who counted: `shop`',
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
      description: 'Start of a whole hour in UTC, within the time for which counts are kept: `2026-11-20T14:00:00Z`',
    }),
    count: Type.Integer({
      minimum: 0,
      maximum: COUNT_MAX,
      description: '0 where there was none: not the same as no row',
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
  { source: Type.Optional(Type.Unsafe<string>({ ...SourceName, description: 'Of a CSV without that column' })) },
  { additionalProperties: false },
)

const events = Type.Array(Type.String(), { description: 'Names' })

export const AddedRecord = Type.Object({
  source: Type.String(),
  events,
  hours: Type.Integer({ description: 'Counts that were written' }),
  first_hour: IsoTime,
  last_hour: IsoTime,
})
export type AddedRecord = Static<typeof AddedRecord>

export const ReferenceRecord = Type.Object({
  source: Type.String(),
  event: Type.String(),
  hours: Type.Integer({ description: 'Hours that have a count' }),
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
      Type.Integer({ minimum: 1, maximum: DAYS_MAX, default: DEFAULT_DAYS, description: 'Today among them' }),
    ),
  },
  { additionalProperties: false },
)

const compared = {
  reference: nullable(Type.Number({ description: 'What the source counted in `compared_hours`; null without any' })),
  counted: nullable(Type.Number({ description: 'What was counted here in the same hours' })),
  captured: nullable(
    Type.Number({ minimum: 0, description: '`counted` / `reference`: more than 1 is double; null where that is 0' }),
  ),
  compared_hours: Type.Integer({ description: 'Hours that are over and have a reference, but for `unknown_hours`' }),
  missing_hours: Type.Integer({
    description: 'Hours that are over and of which the source reported nothing, not even 0',
  }),
  counted_in_missing: Type.Number({ description: 'What was counted here in those' }),
  unknown_hours: Type.Integer({
    description:
      'Hours that have a reference and are not compared: this service was down, or the site was not there yet',
  }),
}

export const ReconciliationAnswer = Type.Object({
  site_id: Uuid,
  source: Type.String(),
  event: Type.String(),
  timezone: Type.String(),
  ...compared,
  shift: nullable(
    Type.Object({
      hours: Type.Integer({ description: "How far the source's hours are ahead of UTC: 0 is right" }),
      correlation: Type.Number({ description: 'Rank correlation of the hours with the shift taken back' }),
      next_correlation: Type.Number({ description: 'Of the best other shift' }),
      compared_hours: Type.Integer(),
      message: nullable(Type.String({ description: 'For people, where it is not 0' })),
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
    { description: 'Oldest first; today as far as its hours are over' },
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
