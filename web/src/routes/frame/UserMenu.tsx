import { ActionIcon, Menu } from '@mantine/core'
import { CircleUser, LogOut } from 'lucide-react'
import { useSession, useSignOut } from '../../api/session.ts'

/** Who is signed in; nothing where no one has to. */
export function UserMenu() {
  const { role } = useSession()
  const signOut = useSignOut()
  if (role !== 'admin' && role !== 'viewer') return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={36} aria-label={`Signed in as ${role}`}>
          <CircleUser size={18} strokeWidth={1.75} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {role === 'admin' ? 'Admin: can change everything' : 'Viewer: read-only, without keys and addresses'}
        </Menu.Label>
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
