import { Temporal } from 'temporal-polyfill'

/** Someone who can be on call. */
export interface OnCallPerson {
  id: string
  name: string
  email: string | null
  /** One of the client's own channels. */
  channelId: string | null
}

/** Who is responsible week by week. */
export interface Rotation {
  /** In the order of their weeks; at least one. */
  people: readonly OnCallPerson[]
  /** IANA name. */
  timezone: string
  /** Of the hand-over, 1 (Monday) to 7. */
  handoverWeekday: number
  /** `HH:MM` on a clock of the zone. */
  handoverTime: string
  /** `YYYY-MM-DD` in the week of the first person. */
  startsOn: string
  /** Minutes without acknowledgement after which the next person is notified; null: never. */
  escalateAfterMinutes: number | null
}

/** Someone stands in. Half-open, epoch ms. */
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
  /** When someone else is, epoch ms; null where that is not in sight. */
  until: number | null
  isOverride: boolean
}

const DAYS = 7
/** Changes that are looked at for when someone else is on call. */
const CHANGES_AHEAD = 60

/**
 * Who is on call at a moment; null without anyone. A hand-over is at its time on the clock of the zone: where that does not exist, as clocks go
 * forward, an hour later; where it comes twice, the first. Of overrides at the same time the one that was made last counts.
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
 * Who is notified when no one has acknowledged an incident; null when all people have been.
 *
 * @param announcedAt when its first message was written, epoch ms
 * @param step 0 is the first who is notified after that
 */
export function escalatesTo(
  { rotation, overrides }: OnCallPlan,
  announcedAt: number,
  step: number,
): OnCallPerson | null {
  const first = personAt(rotation, overrides, announcedAt)
  const { people } = rotation
  if (first === null || step + 1 >= people.length) return null
  const start = people.findIndex(({ id }) => id === first.person.id)
  return people[(start + 1 + step) % people.length] ?? null
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

/** How many hand-overs lie between the first person's week and this moment. */
function weekAt(rotation: Rotation, at: number): number {
  const first = handoverBefore(rotation, Temporal.PlainDate.from(rotation.startsOn))
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(rotation.timezone).toPlainDate()
  const last = handoverBefore(rotation, local)
  const isBefore = at < momentOf(rotation, last)
  return first.until(last, { largestUnit: 'day' }).days / DAYS - (isBefore ? 1 : 0)
}

/** The day of the last hand-over on this day or before. */
const handoverBefore = ({ handoverWeekday }: Rotation, day: Temporal.PlainDate): Temporal.PlainDate =>
  day.subtract({ days: (day.dayOfWeek - handoverWeekday + DAYS) % DAYS })

const momentOf = ({ timezone, handoverTime }: Rotation, day: Temporal.PlainDate): number =>
  day.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from(handoverTime) }).epochMilliseconds

/** The next hand-over, or beginning or end of an override. */
function nextChange(rotation: Rotation, overrides: readonly Override[], after: number): number {
  const local = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(rotation.timezone).toPlainDate()
  let day = handoverBefore(rotation, local)
  while (momentOf(rotation, day) <= after) day = day.add({ days: DAYS })
  const bounds = overrides.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt]).filter((bound) => bound > after)
  return Math.min(momentOf(rotation, day), ...bounds)
}
