import { type ClientRole, roleFor, useSession } from '../../api/session.ts'
import '@mantine/core/styles/Pill.layer.css'
import '@mantine/core/styles/PillsInput.layer.css'
import { MultiSelect, Select, Stack, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { clientsQuery } from '../../api/clients.ts'

interface RoleEntry {
  client_id: string | null
  role: ClientRole
}

const ROLE_OPTIONS: readonly { value: ClientRole; label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads, without keys and addresses' },
  { value: 'editor', label: 'Editor: changes sites, probes, alerts and channels' },
  { value: 'owner', label: 'Owner: also deletes clients, manages people and tokens' },
]

const roleOf = (value: string | null): ClientRole =>
  ROLE_OPTIONS.find((option) => option.value === value)?.value ?? 'viewer'

/** The choice in a form: one role, for all clients or for some. */
export interface Chosen {
  role: ClientRole
  /** Null for every client. */
  clientIds: readonly string[] | null
}

export const entriesOf = ({ role, clientIds }: Chosen): RoleEntry[] =>
  clientIds === null ? [{ client_id: null, role }] : clientIds.map((client_id) => ({ client_id, role }))

/** The choice that corresponds to existing roles; of several different roles, the first. */
export function chosenOf(roles: readonly RoleEntry[], mayAll: boolean): Chosen {
  const all = roles.find(({ client_id }) => client_id === null)
  if (all !== undefined && mayAll) return { role: all.role, clientIds: null }
  const [first] = roles
  return { role: first?.role ?? 'viewer', clientIds: roles.flatMap(({ client_id }) => client_id ?? []) }
}

/** "owner of all clients", "viewer of Acme and 2 more". @param nameOf returns the name of a client */
export function rolesInWords(roles: readonly RoleEntry[], nameOf: (clientId: string) => string): string {
  if (roles.length === 0) return 'no role'
  const byRole = Map.groupBy(roles, ({ role }) => role)
  return Array.from(byRole, ([role, of]) => {
    const [first, ...rest] = of.map(({ client_id }) => (client_id === null ? 'all clients' : nameOf(client_id)))
    return `${role} of ${first}${rest.length === 0 ? '' : ` and ${rest.length} more`}`
  }).join(', ')
}

interface Props {
  chosen: Chosen
  onChange: (chosen: Chosen) => void
}

/** Chooses a role and its clients. People can give roles only for clients that they own. */
export function RoleFields({ chosen: { role, clientIds }, onChange }: Props) {
  const session = useSession()
  const { data: clients = [] } = useQuery(clientsQuery)
  const owned = clients.filter(({ id }) => roleFor(session, id) === 'owner')
  return (
    <Stack gap="md">
      <Select
        label="Role"
        data={ROLE_OPTIONS}
        allowDeselect={false}
        data-autofocus
        value={role}
        onChange={(value) => onChange({ role: roleOf(value), clientIds })}
      />
      {session.ownsAll && (
        <Switch
          label="For every client, and the service itself"
          checked={clientIds === null}
          onChange={(event) => onChange({ role, clientIds: event.currentTarget.checked ? null : [] })}
        />
      )}
      {clientIds !== null && (
        <MultiSelect
          label="Clients"
          placeholder={clientIds.length === 0 ? 'Choose at least one' : undefined}
          data={owned.map(({ id, name }) => ({ value: id, label: name }))}
          value={[...clientIds]}
          onChange={(ids) => onChange({ role, clientIds: ids })}
          searchable
          nothingFoundMessage="No client has this name"
        />
      )}
    </Stack>
  )
}
