import { type Static, Type } from 'typebox'
import { IsoTime, model, nullable, Uuid } from '../../http/index.ts'
import { type Clock, DAY, HOUR, invalidRequest, isoTime, notFound } from '../../lib/index.ts'
import { requireSite } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import { requireConfig, withDefaults } from '../probe-type.ts'
import type { Registry } from '../registry.ts'
import { getProbe, givenConfig } from './record.ts'

/** Each hour takes 0.13 ms of the main thread. */
const MOST_HOURS = 168

export const ExpectationQuery = Type.Object(
  {
    event_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'Only this event; all events together by default' }),
    ),
    from: Type.Optional(
      Type.Unsafe<string>({ ...IsoTime, description: 'Start of the first hour, ISO 8601; 24 hours ago by default' }),
    ),
    to: Type.Optional(
      Type.Unsafe<string>({
        ...IsoTime,
        description: `End of the last hour (exclusive), ISO 8601; 24 hours ahead by default. At most ${MOST_HOURS} hours`,
      }),
    ),
    as_of: Type.Optional(
      Type.Unsafe<string>({
        ...IsoTime,
        description:
          'Time of the knowledge to judge by, ISO 8601: later counts, perhaps faulty, are left out; now by default',
      }),
    ),
  },
  { additionalProperties: false },
)
type ExpectationQuery = Static<typeof ExpectationQuery>

const ExpectedHour = Type.Object({
  t: Type.Unsafe<string>({ ...IsoTime, description: 'Start of the hour' }),
  expected: nullable(Type.Number({ description: 'Usual number of events; null while nothing is known' })),
  low: nullable(Type.Number({ description: 'Lower limit: fewer events do not pass; 0 when any lower number passes' })),
  high: nullable(
    Type.Number({ description: 'Upper limit: more events do not pass; null when any higher number passes' }),
  ),
})

export const ExpectationRecord = model('Expectation', {
  event_name: nullable(Type.String()),
  hours: Type.Array(ExpectedHour, { description: 'Oldest first' }),
  direction: Type.Enum(['down', 'up', 'both'], {
    description: 'Which counts are bad: below `low`, above `high`, or both; others are only mentioned',
  }),
  learnt_days: Type.Integer({ description: 'Number of whole days that define what is usual' }),
  burst: Type.Number({
    description: 'Variance of the hourly counts divided by their mean: 1 when events arrive independently',
  }),
  visit_size: Type.Number({ description: 'Number of events that a visit or a batch brings' }),
  level_noise: Type.Number({
    description: "Further variation of an hour's level: a standard deviation, as a share",
  }),
  widening: Type.Number({
    description: 'How many times as much the level is taken to vary (as a variance) because of feedback; 1 without it',
  }),
  widened_by: Type.Array(Type.Object({ alert_id: Uuid, at: IsoTime }), {
    description: 'The newest feedback that did so: the alert it was given on, where it can be taken back, and when',
  }),
  special: Type.Array(Type.Object({ from: IsoTime, to: IsoTime }), {
    description: 'Public holidays, which are left out of what is usual and judged by silence only',
  }),
  events: Type.Array(Type.String(), {
    description: 'Events that can be requested, the most frequent first; at most 100',
  }),
})
export type ExpectationRecord = Static<typeof ExpectationRecord>

/**
 * Returns what a probe expects hour by hour, and which counts would pass.
 *
 * @throws AppError `not_found`, also when its type expects no counts; `invalid_request` when the window is too long
 */
export async function probeExpectation(
  { store, clock, registry }: { store: Store; clock: Clock; registry: Registry },
  id: string,
  { event_name, from, to, as_of }: ExpectationQuery,
): Promise<ExpectationRecord> {
  const probe = await getProbe(store, id)
  const type = registry.get(probe.probe_type)
  if (type?.expectation === undefined) throw notFound('Expectation')
  const given = givenConfig(probe)
  requireConfig(type, given)
  const now = as_of === undefined ? clock.now() : Date.parse(as_of)
  if (now > clock.now()) throw invalidRequest('/as_of', 'must not be in the future')
  const range = {
    from: from === undefined ? now - DAY : Date.parse(from),
    to: to === undefined ? now + DAY : Date.parse(to),
  }
  if (range.to <= range.from) throw invalidRequest('/to', 'must be after from')
  if (range.to - range.from > MOST_HOURS * HOUR) {
    throw invalidRequest('/from', `must be at most ${MOST_HOURS} hours before to`)
  }
  const site = await requireSite(store.read, probe.site_id)
  const eventName = event_name ?? null
  const asked = { store, site, config: withDefaults(type, given), now, eventName, range }
  const { hours, events, learntDays, burst, visitSize, levelNoise, widening, widenedBy, special, direction } =
    await type.expectation(asked)
  return {
    event_name: eventName,
    hours: hours.map(({ from: start, ...hour }) => ({ t: isoTime(start), ...hour })),
    direction,
    learnt_days: learntDays,
    burst,
    visit_size: visitSize,
    level_noise: levelNoise,
    widening,
    widened_by: widenedBy.map(({ alert_id, given_at }) => ({ alert_id, at: isoTime(given_at) })),
    special: special.map((day) => ({ from: isoTime(day.from), to: isoTime(day.to) })),
    events: [...events],
  }
}
