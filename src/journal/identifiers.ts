import { type Static, Type } from 'typebox'
import { bitOf, type Counts, SIGNAL } from './delta.ts'
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

/** What an event says, as a mask; 0 where it says nothing. */
export function identifiersMask(flags: Identifiers | undefined): number {
  if (flags === undefined) return 0
  const { has_event_id, has_client_id, has_fbp, has_fbc, has_click_id, has_ip, has_user_agent } = flags
  const said = has_event_id ?? has_client_id ?? has_fbp ?? has_fbc ?? has_click_id ?? has_ip ?? has_user_agent
  if (said === undefined) return 0
  return (
    bitOf(SIGNAL.identifiers_total) |
    (has_event_id === true ? bitOf(SIGNAL.event_id) : 0) |
    (has_client_id === true ? bitOf(SIGNAL.client_id) : 0) |
    (has_fbp === true ? bitOf(SIGNAL.fbp) : 0) |
    (has_fbc === true ? bitOf(SIGNAL.fbc) : 0) |
    (has_click_id === true ? bitOf(SIGNAL.click_id) : 0) |
    (has_ip === true ? bitOf(SIGNAL.ip) : 0) |
    (has_user_agent === true ? bitOf(SIGNAL.user_agent) : 0)
  )
}

/** Adds what a batch says. */
export function addIdentifierCounts(counts: Counts, given: IdentifierCounts): void {
  counts[SIGNAL.identifiers_total] = given.total ?? 0
  for (const name of NAMES) counts[SIGNAL[name]] = given[name] ?? 0
}
