import { fieldsOf } from '../../lib/index.ts'
import {
  chunksOf,
  type Kysely,
  type OnCallOverrideRow,
  type OnCallRotationRow,
  type Tables,
} from '../../store/index.ts'
import type { OnCallPerson, OnCallPlan, Override, Rotation } from './who-is-on-call.ts'

/** Returns the plans by client id; clients without one are missing. */
export async function onCallPlans(db: Kysely<Tables>, clientIds: Iterable<string>): Promise<Map<string, OnCallPlan>> {
  const plans = new Map<string, OnCallPlan>()
  for (const ids of chunksOf([...new Set(clientIds)])) {
    const rotations = await db.selectFrom('on_call_rotations').selectAll().where('client_id', 'in', ids).execute()
    // Most clients have no rotation.
    if (rotations.length === 0) continue
    const overrides = await db
      .selectFrom('on_call_overrides')
      .selectAll()
      .where(
        'client_id',
        'in',
        rotations.map(({ client_id }) => client_id),
      )
      .orderBy('id')
      .execute()
    for (const row of rotations) {
      const own = overrides.filter(({ client_id }) => client_id === row.client_id)
      plans.set(row.client_id, { rotation: rotationOf(row), overrides: own.map(overrideOf) })
    }
  }
  return plans
}

const rotationOf = (row: OnCallRotationRow): Rotation => ({
  people: peopleIn(row.people),
  timezone: row.timezone,
  handoverWeekday: row.handover_weekday,
  handoverTime: row.handover_time,
  startsOn: row.starts_on,
  escalateAfterMinutes: row.escalate_after_minutes,
})

const overrideOf = ({ id, person_id, starts_at, ends_at }: OnCallOverrideRow): Override => ({
  id,
  personId: person_id,
  startsAt: starts_at,
  endsAt: ends_at,
})

/** Reads people as `peopleText` writes them. */
function peopleIn(text: string): OnCallPerson[] {
  const people: unknown = JSON.parse(text)
  return (Array.isArray(people) ? people : []).map((each) => {
    const { id, name, email, channelId } = fieldsOf(each)
    return { id: String(id), name: String(name), email: textOrNull(email), channelId: textOrNull(channelId) }
  })
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const peopleText = (people: readonly OnCallPerson[]): string => JSON.stringify(people)
