import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type InvitedUser, useInvite } from '../../api/accounts.ts'
import { ApiError } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { RoleFields } from './RoleFields.tsx'
import { type Chosen, entriesOf } from './roles.ts'

interface Props {
  onClose: () => void
  onInvited: (user: InvitedUser) => void
}

/** Gives someone an account. Where no one has to sign in yet, the first has to be an owner of everything. */
export function InviteForm({ onClose, onInvited }: Props) {
  const { role, ownsAll } = useSession()
  const invite = useInvite()
  const [email, setEmail] = useState('')
  const [chosen, setChosen] = useState<Chosen>(
    role === 'open' ? { role: 'owner', clientIds: null } : { role: 'viewer', clientIds: ownsAll ? null : [] },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ email, roles: entriesOf(chosen) }, { onSuccess: onInvited })
  }
  const fault = invite.error instanceof ApiError ? invite.error.fault('/email') : undefined
  const isReady = email !== '' && chosen.clientIds?.length !== 0
  return (
    <Modal opened onClose={onClose} title="Invite someone" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label="E-mail"
            type="email"
            data-autofocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={fault}
          />
          <RoleFields chosen={chosen} onChange={setChosen} />
          {invite.error !== null && fault === undefined && (
            <Text c="var(--critical-text)" size="sm" role="alert">
              {invite.error.message}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={invite.isPending}>
              Invite
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
