import { type Static, Type } from 'typebox'
import { EXPECTS, IsoTime, model, nullable, Uuid } from '../../http/index.ts'
import { isoTime, isoTimeOrNull } from '../../lib/index.ts'
import { Name } from '../../management/index.ts'
import { type OnCallPerson, type OnCallPlan, type Override, whoIsOnCall } from './who-is-on-call.ts'

export const MOST_PEOPLE = 20

const personFields = {
  name: Name,
  email: nullable(Type.String({ format: 'email', maxLength: 254, description: "This person's own address" })),
  channel_id: nullable({ ...Uuid, description: "One of the client's own channels that reaches this person" }),
}

const rotationFields = {
  timezone: Type.String({ format: 'time-zone', description: 'IANA name' }),
  handover_weekday: Type.Integer({ minimum: 1, maximum: 7, description: '1 is Monday' }),
  handover_time: Type.String({
    pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
    [EXPECTS]: 'a local time like 09:00',
    description: 'In the given time zone',
  }),
  starts_on: Type.String({ format: 'date', description: "A day in the first person's week" }),
  escalate_after_minutes: nullable(
    Type.Integer({
      minimum: 5,
      maximum: 1_440,
      description: 'Minutes without acknowledgement after which the next person is notified; null: never',
    }),
  ),
}

export const SetOnCall = Type.Object(
  {
    people: Type.Array(
      Type.Object(
        {
          id: Type.Optional({ ...Uuid, description: 'Id of a person who is already in the rotation' }),
          name: Name,
          email: Type.Optional(personFields.email),
          channel_id: Type.Optional(personFields.channel_id),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MOST_PEOPLE, description: 'In the order of their weeks' },
    ),
    ...rotationFields,
    escalate_after_minutes: Type.Optional(rotationFields.escalate_after_minutes),
  },
  { additionalProperties: false },
)
export type SetOnCall = Static<typeof SetOnCall>

const PersonRecord = model('OnCallPerson', { id: Uuid, ...personFields })

export const OverrideRecord = model('OnCallOverride', {
  id: Uuid,
  person_id: Uuid,
  name: Type.String({ description: 'Who stands in' }),
  starts_at: IsoTime,
  ends_at: IsoTime,
})
export type OverrideRecord = Static<typeof OverrideRecord>

export const AddOverride = Type.Object(
  { person_id: Uuid, starts_at: IsoTime, ends_at: IsoTime },
  { additionalProperties: false },
)
export type AddOverride = Static<typeof AddOverride>

const Turn = model('OnCallTurn', {
  person_id: Uuid,
  name: Type.String(),
  until: nullable({ ...IsoTime, description: 'When someone else takes over; null: not foreseeable' }),
  is_override: Type.Boolean(),
})

export const OnCallRecord = model('OnCall', {
  rotation: nullable(Type.Object({ people: Type.Array(PersonRecord), ...rotationFields })),
  overrides: Type.Array(OverrideRecord, { description: 'Those that are not over, oldest first' }),
  now: nullable(Turn),
  next: nullable(Turn),
})
export type OnCallRecord = Static<typeof OnCallRecord>

/**
 * Returns a client's plan as the API shows it.
 *
 * @param now epoch ms
 * @param isAddressShown whether the caller may see e-mail addresses
 */
export function onCallRecord(plan: OnCallPlan | undefined, now: number, isAddressShown: boolean): OnCallRecord {
  if (plan === undefined) return { rotation: null, overrides: [], now: null, next: null }
  const { rotation, overrides } = plan
  const turn = (at: number) => {
    const found = whoIsOnCall(rotation, overrides, at)
    if (found === null) return null
    const { person, until, isOverride } = found
    return {
      record: { person_id: person.id, name: person.name, until: isoTimeOrNull(until), is_override: isOverride },
      until,
    }
  }
  const current = turn(now)
  const next = current?.until == null ? null : turn(current.until)
  return {
    rotation: {
      people: rotation.people.map(({ channelId, ...person }) => ({
        ...person,
        email: isAddressShown ? person.email : null,
        channel_id: channelId,
      })),
      timezone: rotation.timezone,
      handover_weekday: rotation.handoverWeekday,
      handover_time: rotation.handoverTime,
      starts_on: rotation.startsOn,
      escalate_after_minutes: rotation.escalateAfterMinutes,
    },
    overrides: overrides
      .filter(({ endsAt }) => endsAt > now)
      .map((override) => overrideRecord(override, rotation.people)),
    now: current?.record ?? null,
    next: next?.record ?? null,
  }
}

export const overrideRecord = (
  { id, personId, startsAt, endsAt }: Override,
  people: readonly OnCallPerson[],
): OverrideRecord => ({
  id,
  person_id: personId,
  name: people.find((person) => person.id === personId)?.name ?? '',
  starts_at: isoTime(startsAt),
  ends_at: isoTime(endsAt),
})
