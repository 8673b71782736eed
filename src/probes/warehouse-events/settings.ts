import { Temporal } from 'temporal-polyfill'
import { type Static, Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import { type ErrorDetail, isObject } from '../../lib/index.ts'

/** A calendar day in a time zone; times are epoch ms. */
export interface LocalDay {
  /** As in names of tables: `20261119`. */
  suffix: string
  /** For people: `2026-11-19`. */
  date: string
  /** For people: `Thursday`. */
  weekday: string
  start: number
  end: number
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/**
 * Returns the day `daysBefore` days before the one that contains `now`.
 *
 * @throws RangeError for an unknown time zone
 */
export function localDay(timezone: string, now: number, daysBefore: number): LocalDay {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const day = today.subtract({ days: daysBefore })
  const date = day.toString()
  return {
    suffix: date.replaceAll('-', ''),
    date,
    weekday: WEEKDAYS[day.dayOfWeek - 1] ?? '',
    start: day.toZonedDateTime(timezone).epochMilliseconds,
    end: day.add({ days: 1 }).toZonedDateTime(timezone).epochMilliseconds,
  }
}

/** Returns the instant at which local clocks show `time` (`14:00`, up to `24:00`) on the day that begins at `dayEnd`. */
export function timeAfter(timezone: string, dayEnd: number, time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const next = Temporal.Instant.fromEpochMilliseconds(dayEnd).toZonedDateTimeISO(timezone).toPlainDate()
  return next.toPlainDateTime().add({ hours, minutes }).toZonedDateTime(timezone).epochMilliseconds
}

function isTimezone(timezone: string): boolean {
  try {
    localDay(timezone, 0, 0)
    return true
  } catch {
    return false
  }
}

const Hour = (fallback: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 24, default: fallback, description })

export const Config = Type.Object(
  {
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Time zone of the analytics property; the site's by default",
      }),
    ),
    daily_export: Type.Boolean({
      default: true,
      description:
        'Turn off if only the streaming export is set up: then the intraday table of a day is also the final one',
    }),
    daily_deadline: Type.String({
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
      [EXPECTS]: 'a time of day like 14:00',
      default: '14:00',
      description:
        'When the table of a day is due on the next day; missing after that is a warning, 36 h after the end of the day critical',
    }),
    warning_ratio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'Fewer rows than this share of the usual (median of the same weekday of 4 weeks) are a warning',
    }),
    critical_ratio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.2,
      description: 'Fewer rows than this share of the usual are critical',
    }),
    min_expected_rows: Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      default: 100,
      description:
        'When fewer rows than this are usual on a day, only an empty table is bad; when fewer are usual in the time that the intraday table is silent, its silence is not judged',
    }),
    active_from_hour: Hour(8, 'Hour from which silence of the intraday table counts'),
    active_to_hour: Hour(22, 'Hour until which silence of the intraday table counts'),
    required_events: Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
      maxItems: 50,
      default: [],
      description: 'Events that every day must contain; counting them requires a query that costs money',
    }),
    max_query_mb: Type.Integer({
      minimum: 10,
      maximum: 1_000_000,
      default: 1_024,
      description: 'Maximum amount of data that this query may read, in MB (1,048,576 bytes)',
    }),
  },
  { additionalProperties: false },
)

export type Settings = Static<typeof Config>

export function checkConfig({
  timezone,
  warning_ratio,
  critical_ratio,
  active_from_hour,
  active_to_hour,
}: Settings): ErrorDetail[] {
  return [
    ...(timezone === undefined || isTimezone(timezone)
      ? []
      : [{ path: '/timezone', message: 'must be an IANA time zone such as Europe/Berlin' }]),
    ...(critical_ratio <= warning_ratio
      ? []
      : [{ path: '/critical_ratio', message: 'must not be above warning_ratio' }]),
    ...(active_from_hour < active_to_hour
      ? []
      : [{ path: '/active_to_hour', message: 'must be later than active_from_hour' }]),
  ]
}

/** What a probe remembers about its dataset. */
export interface Memory {
  /** As `project.dataset`. */
  dataset: string
  /** Row counts of tables that no longer change, by day (`20261119`). */
  rows: Readonly<Record<string, number>>
  /** Rows in the warehouse per event counted here, by day. */
  ratios: Readonly<Record<string, number>>
  /** The counts for one state of one table; kept because counting costs money. */
  counted: Counted | null
  /** The last day with an intraday table. */
  lastIntraday: string | null
}

interface Counted {
  table: string
  /** When the table last changed, epoch ms. */
  modifiedAt: number
  bytes: number
  counts: Readonly<Record<string, number>>
}

const numbersOf = (value: unknown): Record<string, number> =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).flatMap(([key, n]) => (typeof n === 'number' ? [[key, n]] : [])))
    : {}

/**
 * Reads memory that another version of Tagwarden may have written. Drops what is not usable, and everything about another
 * dataset. Earlier versions did not store the dataset.
 */
export function readMemory(memory: Readonly<Record<string, unknown>>, dataset: string): Memory {
  const { rows, ratios, counted, lastIntraday }: Readonly<Record<string, unknown>> = isOf(memory, dataset) ? memory : {}
  return {
    dataset,
    rows: numbersOf(rows),
    ratios: numbersOf(ratios),
    counted: isObject(counted) ? readCounted(counted) : null,
    lastIntraday: typeof lastIntraday === 'string' ? lastIntraday : null,
  }
}

const isOf = ({ dataset: known }: Readonly<Record<string, unknown>>, dataset: string): boolean =>
  known === undefined || known === dataset

function readCounted({ table, modifiedAt, bytes, counts }: Record<string, unknown>): Counted | null {
  if (typeof table !== 'string' || typeof modifiedAt !== 'number' || typeof bytes !== 'number') return null
  return { table, modifiedAt, bytes, counts: numbersOf(counts) }
}

const KEPT_DAYS = 40

/** Drops days that no comparison reaches back to. */
export const latestDays = (rows: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(rows)
      .sort(([a], [b]) => a.localeCompare(b))
      .slice(-KEPT_DAYS),
  )
