import { Stack, Switch, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type InvitedUser, type UserRecord, useInvite, useInviteFirst, useUpdateUser } from '../../api/accounts.ts'
import { ApiError } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { changed } from '../../lib/changed.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'
import { Dialog, DialogEnd } from '../../ui/Dialog.tsx'
import { type Chosen, chosenOf, entriesOf, RoleFields } from './RoleFields.tsx'

interface Props {
  onClose: () => void
  onInvited: (user: InvitedUser) => void
}

/** Invites a person. The first account of a service must be an owner of everything. */
export function InviteForm({ onClose, onInvited }: Props) {
  const { role, ownsAll } = useSession()
  const [inviteNext, inviteFirst] = [useInvite(), useInviteFirst()]
  const invite = role === 'open' ? inviteFirst : inviteNext
  const [email, setEmail] = useState('')
  const [chosen, setChosen] = useState<Chosen>(
    role === 'open' ? { role: 'owner', clientIds: null } : { role: 'viewer', clientIds: ownsAll ? null : [] },
  )
  useUnsaved(() => !invite.isPending && !invite.isSuccess && email !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ email, roles: entriesOf(chosen) }, { onSuccess: onInvited })
  }
  const fault = invite.error instanceof ApiError ? invite.error.fault('/email') : undefined
  const isReady = email !== '' && chosen.clientIds?.length !== 0
  return (
    <Dialog onClose={onClose} title={role === 'open' ? 'Invite yourself' : 'Invite someone'}>
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
          <DialogEnd
            action="Invite"
            isBusy={invite.isPending}
            isDisabled={!isReady}
            onClose={onClose}
            fault={fault === undefined ? invite.error?.message : null}
          />
        </Stack>
      </form>
    </Dialog>
  )
}

/** Edits a person's roles and whether they may sign in. */
export function PersonForm({ user, onClose }: { user: UserRecord; onClose: () => void }) {
  const { ownsAll } = useSession()
  const update = useUpdateUser()
  const [chosen, setChosen] = useState(() => chosenOf(user.roles, ownsAll))
  const [isActive, setActive] = useState(user.status !== 'disabled')
  const body = { roles: entriesOf(chosen), is_active: isActive }
  const [opened] = useState(body)
  useUnsaved(() => !update.isPending && Object.keys(changed(body, opened)).length > 0)
  const isMixed = new Set(user.roles.map(({ role }) => role)).size > 1
  const submit = (event: FormEvent) => {
    event.preventDefault()
    update.mutate({ id: user.id, body: changed(body, opened) }, { onSuccess: onClose })
  }
  return (
    <Dialog onClose={onClose} title={`Edit ${user.name}`}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <RoleFields chosen={chosen} onChange={setChosen} />
          {isMixed && (
            <Text size="sm">
              {user.name} has different roles for different clients. They stay, unless you choose another role or other
              clients: then all of these get one role.
            </Text>
          )}
          {ownsAll && (
            <Switch
              label="May sign in"
              description="When switched off, all sessions end at once."
              checked={isActive}
              onChange={(event) => setActive(event.currentTarget.checked)}
            />
          )}
          <DialogEnd action="Save" isBusy={update.isPending} onClose={onClose} fault={update.error?.message} />
        </Stack>
      </form>
    </Dialog>
  )
}
