import '@mantine/core/styles/Pill.layer.css'
import '@mantine/core/styles/PillsInput.layer.css'
import { MultiSelect, Select, Stack, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { clientsQuery } from '../../api/clients.ts'
import { roleFor, useSession } from '../../api/session.ts'
import { type Chosen, ROLE_OPTIONS, roleOf } from './roles.ts'

interface Props {
  chosen: Chosen
  onChange: (chosen: Chosen) => void
}

/** Chooses a role, and the clients that it is for; only those that one owns can be given. */
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
