import { Stack, Switch, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import {
  type InvitedUser,
  type UserRecord,
  useInvite,
  useInviteFirst,
  usersQuery,
  useUpdateUser,
} from '../../api/accounts.ts'
import { ApiError } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { changed, changedSince } from '../../lib/changed.ts'
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
    // Its link is shown only once, also when this form was closed meanwhile. The form shows an error.
    void invite.mutateAsync({ email, roles: entriesOf(chosen) }).then(onInvited, () => undefined)
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

const faultIn = (error: Error | null): string | undefined =>
  error instanceof ApiError ? (error.details[0]?.message ?? error.message) : error?.message

/** Edits a person's roles and whether they may sign in. */
export function PersonForm({ user, onClose }: { user: UserRecord; onClose: () => void }) {
  const { ownsAll } = useSession()
  const update = useUpdateUser()
  const [chosen, setChosen] = useState(() => chosenOf(user.roles, ownsAll))
  const [isActive, setActive] = useState(user.status !== 'disabled')
  const body = { roles: entriesOf(chosen), is_active: isActive }
  const [opened] = useState(body)
  useUnsaved(() => !save.isPending && Object.keys(changed(body, opened)).length > 0)
  const queries = useQueryClient()
  const save = useMutation({
    async mutationFn() {
      const all = await queries.fetchQuery({ ...usersQuery, staleTime: 0 })
      const { roles, status } = all.find(({ id }) => id === user.id) ?? user
      const now = { roles: entriesOf(chosenOf(roles, ownsAll)), is_active: status !== 'disabled' }
      await update.mutateAsync({ id: user.id, body: changedSince(body, opened, now) })
    },
  })
  const isMixed = new Set(user.roles.map(({ role }) => role)).size > 1
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(undefined, { onSuccess: onClose })
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
          <DialogEnd action="Save" isBusy={save.isPending} onClose={onClose} fault={faultIn(save.error)} />
        </Stack>
      </form>
    </Dialog>
  )
}
