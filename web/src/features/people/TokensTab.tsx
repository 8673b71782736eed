import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type FormEvent, useMemo, useState } from 'react'
import { type ApiTokenRecord, tokensQuery, useCreateToken, useRevokeToken } from '../../api/accounts.ts'
import { clientsQuery } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { Dialog, DialogEnd } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited, MayNotChange } from '../../ui/States.tsx'
import { Card } from '../settings/Card.tsx'
import { OnceShown } from './OnceShown.tsx'
import classes from './people.module.css'
import { type Chosen, entriesOf, RoleFields, rolesInWords } from './RoleFields.tsx'

/** Keys for programs. */
export function TokensTab() {
  const { isOwner } = useSession()
  return isOwner ? <Tokens /> : <MayNotChange />
}

function Tokens() {
  const { data, error, refetch } = useQuery(tokensQuery)
  const [isCreating, setCreating] = useState(false)
  const [token, setToken] = useState<string | null>(null)
  return (
    <Card
      title="API tokens"
      about="Keys for programs, sent as Authorization: Bearer …. Each has a role, and ends when it is revoked or expires."
      actions={
        <Button variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          New token
        </Button>
      }
    >
      {data === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={120} />
      ) : data.length === 0 ? (
        <p className={classes.muted}>None. A pipeline, a script or an assistant gets one of its own.</p>
      ) : (
        <ul className={classes.list}>
          {data.map((row) => (
            <Token key={row.id} token={row} />
          ))}
        </ul>
      )}
      {isCreating && (
        <TokenForm
          onClose={() => setCreating(false)}
          onCreated={(made) => {
            setCreating(false)
            setToken(made)
          }}
        />
      )}
      {token !== null && (
        <Dialog onClose={() => setToken(null)} title="New token">
          <Stack gap="md">
            <Text size="md">Copy it now: it is shown only once.</Text>
            <OnceShown text={token} what="token" />
            <Group justify="flex-end">
              <Button onClick={() => setToken(null)}>Done</Button>
            </Group>
          </Stack>
        </Dialog>
      )}
    </Card>
  )
}

function Token({ token: { id, name, role, client_ids, hint, expires_at, last_used_at } }: { token: ApiTokenRecord }) {
  const { data: clients = [] } = useQuery(clientsQuery)
  const names = useMemo(() => new Map(clients.map((client) => [client.id, client.name])), [clients])
  const revoke = useRevokeToken()
  const [isRevoking, setRevoking] = useState(false)
  const roles = entriesOf({ role, clientIds: client_ids })
  return (
    <li className={classes.entry}>
      <span className={classes.what}>
        <b>{name}</b>
        <code>…{hint}</code>
        <span className={classes.muted}>
          {rolesInWords(roles, (client) => names.get(client) ?? 'a deleted client')}
          {' · '}
          {last_used_at === null ? (
            'not used yet'
          ) : (
            <>
              last used <RelativeTime at={last_used_at} />
            </>
          )}
          {expires_at !== null && (
            <>
              {' · expires '}
              <RelativeTime at={expires_at} />
            </>
          )}
        </span>
      </span>
      <span className={classes.acts}>
        <Button size="compact-sm" variant="default" aria-label={`Revoke ${name}`} onClick={() => setRevoking(true)}>
          Revoke …
        </Button>
      </span>
      <Confirm
        opened={isRevoking}
        onClose={() => setRevoking(false)}
        onConfirm={() => revoke.mutateAsync(id)}
        title={`Revoke the token ${name}`}
        action="Revoke"
      >
        Calls with it are refused from now on. This cannot be undone.
      </Confirm>
    </li>
  )
}

const DAY_MS = 86_400_000
/** The form shows the error. */
const ignored = () => undefined
const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: '', label: 'Never' },
]

function TokenForm({ onClose, onCreated }: { onClose: () => void; onCreated: (token: string) => void }) {
  const { ownsAll } = useSession()
  const create = useCreateToken()
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [chosen, setChosen] = useState<Chosen>({ role: 'viewer', clientIds: ownsAll ? null : [] })
  useUnsaved(() => !create.isPending && name !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const expires_at = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
    const client_ids = chosen.clientIds && [...chosen.clientIds]
    // The token is shown only once, also when this form was closed meanwhile.
    void create
      .mutateAsync({ name, role: chosen.role, client_ids, expires_at })
      .then(({ token }) => onCreated(token), ignored)
  }
  return (
    <Dialog onClose={onClose} title="New token">
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            description="What it is for: the audit log names it"
            data-autofocus
            maxLength={60}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <RoleFields chosen={chosen} onChange={setChosen} />
          <Select
            label="Expires"
            data={LIFETIMES}
            allowDeselect={false}
            value={days}
            onChange={(value) => setDays(value ?? '')}
          />
          <DialogEnd
            action="Create"
            isBusy={create.isPending}
            isDisabled={name.trim() === '' || chosen.clientIds?.length === 0}
            onClose={onClose}
            fault={create.error?.message}
          />
        </Stack>
      </form>
    </Dialog>
  )
}
