import { type Static, Type } from 'typebox'
import { type Counts, SIGNAL } from './delta.ts'
import { Flag, OptionalCounter } from './fields.ts'

const NAMES = ['event_id', 'client_id', 'fbp', 'fbc', 'click_id', 'ip', 'user_agent'] as const
type Name = (typeof NAMES)[number]

/** What vendors recognise an event or a visitor by. */
export const Identifiers = Type.Object(
  {
    has_event_id: Flag,
    has_client_id: Flag,
    has_fbp: Flag,
    has_fbc: Flag,
    has_click_id: Flag,
    has_ip: Flag,
    has_user_agent: Flag,
  },
  { description: 'Presence flags; an empty object means "not reported"' },
)
export type Identifiers = Static<typeof Identifiers>

const flagOf = (name: Name): `has_${Name}` => `has_${name}`

export const IDENTIFIER_FLAGS = NAMES.map(flagOf)

/** What a batch counts of its events. */
export const IdentifierCounts = Type.Object(
  {
    event_id: OptionalCounter,
    client_id: OptionalCounter,
    fbp: OptionalCounter,
    fbc: OptionalCounter,
    click_id: OptionalCounter,
    ip: OptionalCounter,
    user_agent: OptionalCounter,
    total: OptionalCounter,
  },
  { description: 'Events with each identifier, of the `total` that reported them' },
)
export type IdentifierCounts = Static<typeof IdentifierCounts>

export const IDENTIFIER_COUNTS: readonly Name[] = NAMES

/** Each flag with its place: a name that is put together for each event costs more than the rest. */
const PLACES = NAMES.map((name) => ({ flag: flagOf(name), place: SIGNAL[name] }))

/** Adds what an event says. */
export function addIdentifiers(counts: Counts, flags: Identifiers): void {
  let isSaid = false
  for (const { flag, place } of PLACES) {
    const given = flags[flag]
    if (given !== undefined) isSaid = true
    if (given === true) counts[place] = 1
  }
  if (isSaid) counts[SIGNAL.identifiers_total] = 1
}

/** Adds what a batch says. */
export function addIdentifierCounts(counts: Counts, given: IdentifierCounts): void {
  counts[SIGNAL.identifiers_total] = given.total ?? 0
  for (const name of NAMES) counts[SIGNAL[name]] = given[name] ?? 0
}
