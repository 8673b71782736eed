import { Temporal } from 'temporal-polyfill'

/** Someone who can be on call. */
export interface OnCallPerson {
  id: string
  name: string
  email: string | null
  /** One of the client's own channels. */
  channelId: string | null
}

/** Who is on call week by week. */
export interface Rotation {
  /** In the order of their weeks; at least one. */
  people: readonly OnCallPerson[]
  /** IANA name. */
  timezone: string
  /** Weekday of the handover, 1 (Monday) to 7. */
  handoverWeekday: number
  /** Local time of the handover, `HH:MM`. */
  handoverTime: string
  /** `YYYY-MM-DD`, a day in the first person's week. */
  startsOn: string
  /** Minutes without acknowledgement after which the next person is notified; null: never. */
  escalateAfterMinutes: number | null
}

/** Someone stands in for a time. Half-open, epoch ms. */
export interface Override {
  id: string
  personId: string
  startsAt: number
  endsAt: number
}

export interface OnCallPlan {
  rotation: Rotation
  /** The oldest first. */
  overrides: readonly Override[]
}

export interface OnCallNow {
  person: OnCallPerson
  /** When someone else is on call, epoch ms; null when that is not foreseeable. */
  until: number | null
  isOverride: boolean
}

const DAYS = 7
/** Handovers and overrides that are checked for the next change of person. */
const CHANGES_AHEAD = 60

/**
 * Returns who is on call at a time, or null when there is no one. A handover is at its local time: an hour later when clocks skip
 * that time, and at the first occurrence when it occurs twice. Of overlapping overrides the one created last counts.
 *
 * @param at epoch ms
 */
export function whoIsOnCall(rotation: Rotation, overrides: readonly Override[], at: number): OnCallNow | null {
  const now = personAt(rotation, overrides, at)
  if (now === null) return null
  let until: number | null = at
  for (let changes = 0; changes < CHANGES_AHEAD; changes++) {
    until = nextChange(rotation, overrides, until)
    if (personAt(rotation, overrides, until)?.person.id !== now.person.id) return { ...now, until }
  }
  return { ...now, until: null }
}

/**
 * Returns who is notified next when no one has acknowledged an incident, with the ids of everyone who was notified then; null when
 * everyone was. People are known by their ids, because the rotation may be changed meanwhile.
 *
 * @param announcedAt when its first message was written, epoch ms
 * @param before the ids of those already notified, in their order; empty: only the first one
 */
export function escalatesTo(
  { rotation: { people, ...rotation }, overrides }: OnCallPlan,
  announcedAt: number,
  before: readonly string[],
): { person: OnCallPerson; notified: string[] } | null {
  const first = personAt({ people, ...rotation }, overrides, announcedAt)
  if (first === null) return null
  const notified = before.length === 0 ? [first.person.id] : before
  const last = notified.findLast((id) => people.some((person) => person.id === id))
  const start = people.findIndex(({ id }) => id === last) + 1
  const person = [...people.slice(start), ...people.slice(0, start)].find(({ id }) => !notified.includes(id))
  return person === undefined ? null : { person, notified: [...notified, person.id] }
}

function personAt(
  rotation: Rotation,
  overrides: readonly Override[],
  at: number,
): Pick<OnCallNow, 'person' | 'isOverride'> | null {
  const known = ({ personId }: Override) => rotation.people.find(({ id }) => id === personId)
  const override = overrides.findLast((each) => each.startsAt <= at && at < each.endsAt && known(each) !== undefined)
  const standIn = override === undefined ? undefined : known(override)
  if (standIn !== undefined) return { person: standIn, isOverride: true }
  const { people } = rotation
  const week = weekAt(rotation, at)
  const person = people[((week % people.length) + people.length) % people.length]
  return person === undefined ? null : { person, isOverride: false }
}

/** Returns the number of handovers between the first person's week and this time. */
function weekAt(rotation: Rotation, at: number): number {
  const first = handoverBefore(rotation, Temporal.PlainDate.from(rotation.startsOn))
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(rotation.timezone).toPlainDate()
  const last = handoverBefore(rotation, local)
  const isBefore = at < momentOf(rotation, last)
  return first.until(last, { largestUnit: 'day' }).days / DAYS - (isBefore ? 1 : 0)
}

/** Returns the day of the last handover on or before this day. */
const handoverBefore = ({ handoverWeekday }: Rotation, day: Temporal.PlainDate): Temporal.PlainDate =>
  day.subtract({ days: (day.dayOfWeek - handoverWeekday + DAYS) % DAYS })

const momentOf = ({ timezone, handoverTime }: Rotation, day: Temporal.PlainDate): number =>
  day.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from(handoverTime) }).epochMilliseconds

/** Returns when the next handover, or start or end of an override, is, epoch ms. */
function nextChange(rotation: Rotation, overrides: readonly Override[], after: number): number {
  const local = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(rotation.timezone).toPlainDate()
  let day = handoverBefore(rotation, local)
  while (momentOf(rotation, day) <= after) day = day.add({ days: DAYS })
  const bounds = overrides.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt]).filter((bound) => bound > after)
  return Math.min(momentOf(rotation, day), ...bounds)
}
