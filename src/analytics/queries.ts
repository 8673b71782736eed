import { type Static, Type } from 'typebox'
import { IsoTime, Uuid } from '../http/index.ts'
import { BUCKET_NAMES } from './buckets.ts'
import { GROUPS, METRICS, type TimeseriesQuery } from './timeseries/plan.ts'
import { DEFAULT_HOURS, type RangeQuery } from './window.ts'

export const SiteParams = Type.Object({ site_id: Uuid })

export const TagParams = Type.Object({
  site_id: Uuid,
  tag_key: Type.String({
    minLength: 1,
    description: "The tag's key, percent-encoded: its name, an older name of it, or `tag_<id>`",
  }),
})

const range = {
  from: Type.Optional(Type.Unsafe<string>({ ...IsoTime, description: 'Start of the window, ISO 8601' })),
  to: Type.Optional(
    Type.Unsafe<string>({ ...IsoTime, description: 'End of the window (exclusive), ISO 8601; without it until now' }),
  ),
  hours: Type.Optional(
    Type.Integer({ minimum: 1, description: `The last hours instead of from and to; ${DEFAULT_HOURS} by default` }),
  ),
  bucket: Type.Optional(
    Type.Enum([...BUCKET_NAMES], {
      default: 'auto',
      description: '`auto` is the finest with at most 400 points. No effect on reports that have no time axis',
    }),
  ),
}

/** More series than a chart has room for. */
const KEYS_MAX = 100

const strict = { additionalProperties: false } as const

export const WindowQuery = Type.Object(range, strict)

export const OverviewParams = Type.Object(
  {
    ...range,
    compare: Type.Optional(
      Type.Enum(['previous'], { description: 'Adds the window of equal length just before as `previous`' }),
    ),
  },
  strict,
)

export const TimeseriesParams = Type.Object(
  {
    metric: Type.Enum([...METRICS]),
    ...range,
    group_by: Type.Optional(
      Type.Enum([...GROUPS], {
        description:
          'One series each: `event_name` with events, executions, failures; `tag_key` with executions, failures, latency ' +
          '(then p95); `outcome` with executions, failures; `field` with user_data, ecommerce',
      }),
    ),
    event_name: Type.Optional(
      Type.String({ minLength: 1, description: 'Only this event: events, executions, failures' }),
    ),
    tag_key: Type.Optional(Type.String({ minLength: 1, description: 'Only this tag: executions, failures, latency' })),
    keys: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: KEYS_MAX,
        description: 'With group_by: only the series with these keys, once for each. One that is not there is left out',
      }),
    ),
  },
  strict,
)

export type TimeseriesParams = Static<typeof TimeseriesParams>

interface RangeParams {
  from?: string | undefined
  to?: string | undefined
  hours?: number | undefined
}

/** A window as callers write it, in epoch ms. */
export function rangeQuery({ from, to, hours }: RangeParams): RangeQuery {
  return {
    ...(from === undefined ? {} : { from: Date.parse(from) }),
    ...(to === undefined ? {} : { to: Date.parse(to) }),
    ...(hours === undefined ? {} : { hours }),
  }
}

export function timeseriesQuery({ from, to, hours, ...rest }: TimeseriesParams): TimeseriesQuery {
  return { ...rest, ...rangeQuery({ from, to, hours }) }
}
