import type { ClientRole } from '../../api/session.ts'

export interface RoleEntry {
  client_id: string | null
  role: ClientRole
}

export const ROLE_OPTIONS: readonly { value: ClientRole; label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads, without keys and addresses' },
  { value: 'editor', label: 'Editor: changes sites, probes, alerts and channels' },
  { value: 'owner', label: 'Owner: also deletes clients, manages people and tokens' },
]

export const roleOf = (value: string | null): ClientRole =>
  ROLE_OPTIONS.find((option) => option.value === value)?.value ?? 'viewer'

/** What a form chooses: one role, for every client or for some. */
export interface Chosen {
  role: ClientRole
  /** Null: every client. */
  clientIds: readonly string[] | null
}

export const entriesOf = ({ role, clientIds }: Chosen): RoleEntry[] =>
  clientIds === null ? [{ client_id: null, role }] : clientIds.map((client_id) => ({ client_id, role }))

/** The form's choice of roles as they are; of several roles the first. */
export function chosenOf(roles: readonly RoleEntry[], mayAll: boolean): Chosen {
  const all = roles.find(({ client_id }) => client_id === null)
  if (all !== undefined && mayAll) return { role: all.role, clientIds: null }
  const [first] = roles
  return { role: first?.role ?? 'viewer', clientIds: roles.flatMap(({ client_id }) => client_id ?? []) }
}

/** "owner of all clients", "viewer of Acme and 2 more". @param nameOf a client */
export function rolesInWords(roles: readonly RoleEntry[], nameOf: (clientId: string) => string): string {
  if (roles.length === 0) return 'no role'
  const byRole = Map.groupBy(roles, ({ role }) => role)
  return Array.from(byRole, ([role, of]) => {
    const [first, ...rest] = of.map(({ client_id }) => (client_id === null ? 'all clients' : nameOf(client_id)))
    return `${role} of ${first}${rest.length === 0 ? '' : ` and ${rest.length} more`}`
  }).join(', ')
}
