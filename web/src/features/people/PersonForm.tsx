import { Button, Group, Modal, Stack, Switch, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type UserRecord, useUpdateUser } from '../../api/accounts.ts'
import { useSession } from '../../api/session.ts'
import { RoleFields } from './RoleFields.tsx'
import { chosenOf, entriesOf } from './roles.ts'

/** What someone may do, and whether they may sign in at all. */
export function PersonForm({ user, onClose }: { user: UserRecord; onClose: () => void }) {
  const { ownsAll } = useSession()
  const update = useUpdateUser()
  const [chosen, setChosen] = useState(() => chosenOf(user.roles, ownsAll))
  const [isActive, setActive] = useState(user.status !== 'disabled')
  const isMixed = new Set(user.roles.map(({ role }) => role)).size > 1
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = { roles: entriesOf(chosen), ...(ownsAll ? { is_active: isActive } : {}) }
    update.mutate({ id: user.id, body }, { onSuccess: onClose })
  }
  return (
    <Modal opened onClose={onClose} title={`Edit ${user.name}`} centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <RoleFields chosen={chosen} onChange={setChosen} />
          {isMixed && (
            <Text size="sm">
              {user.name} has different roles for different clients. Saving gives the one above for all that are chosen.
            </Text>
          )}
          {ownsAll && (
            <Switch
              label="May sign in"
              description="Switched off, all sessions end now."
              checked={isActive}
              onChange={(event) => setActive(event.currentTarget.checked)}
            />
          )}
          {update.error !== null && (
            <Text c="var(--critical-text)" size="sm" role="alert">
              {update.error.message}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={update.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
