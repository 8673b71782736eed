import { ActionIcon, Kbd, Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { ChevronRight, CircleUser, LogOut, Monitor, Moon, Search, Sun, UserCog } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useSession, useSignOut } from '../../api/session.ts'
import { lazyOr } from '../../lib/lazy-or.ts'
import { useBreadcrumbs } from '../../ui/PageHeader.tsx'
import { SearchDialog, useSearchDialog } from './search/SearchDialog.tsx'
import classes from './TopBar.module.css'

const Shortcuts = lazyOr(
  async () => (await import('./Shortcuts.tsx')).Shortcuts,
  () => null,
)

/** Breadcrumbs, and what every page has: search, theme, and the user's menu. */
export function TopBar() {
  const search = useSearchDialog()
  const [showsKeys, setShowsKeys] = useState(false)
  useHotkeys([['shift+?', () => document.querySelector('[role=dialog]') === null && setShowsKeys(true)]])
  return (
    <header className={classes.bar}>
      <Crumbs />
      <UnstyledButton className={classes.search} onClick={search.open} onPointerEnter={search.prepare}>
        <Search size={16} aria-hidden />
        <span className={classes.word}>Search</span>
        <Kbd className={classes.key} aria-hidden>
          /
        </Kbd>
      </UnstyledButton>
      <ThemeSwitch />
      <UserMenu />
      <SearchDialog {...search} />
      {showsKeys && (
        <Suspense>
          <Shortcuts onClose={() => setShowsKeys(false)} />
        </Suspense>
      )}
    </header>
  )
}

function Crumbs() {
  const { crumbs } = useBreadcrumbs()
  return (
    <nav aria-label="Breadcrumb" className={classes.crumbs}>
      <ol className={classes.crumbs}>
        {crumbs.map(({ label, to }) => (
          <li key={to ?? ''} title={label}>
            {to === undefined ? (
              <span aria-current="page">{label}</span>
            ) : (
              <>
                <Link to={to}>{label}</Link>
                <ChevronRight size={14} aria-hidden />
              </>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

const SCHEMES = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
  { value: 'auto', label: 'System', icon: Monitor },
] as const

function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const Icon = SCHEMES.find(({ value }) => value === colorScheme)?.icon ?? Monitor
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={36} aria-label="Theme">
          <Icon size={18} strokeWidth={1.75} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map(({ value, label, icon: Each }) => (
          <Menu.Item
            key={value}
            leftSection={<Each size={16} aria-hidden />}
            aria-current={value === colorScheme || undefined}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The signed-in user; renders nothing when no sign-in is required. */
function UserMenu() {
  const { role, user, proxy } = useSession()
  const signOut = useSignOut()
  if (role !== 'admin' && role !== 'viewer' && user === null) return null
  const who = user?.name ?? role
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={36} aria-label={`Signed in as ${who}`}>
          <CircleUser size={18} strokeWidth={1.75} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user?.email ??
            (role === 'admin' ? 'Admin: can change everything' : 'Viewer: read-only, without keys and addresses')}
        </Menu.Label>
        {user !== null && (
          <Menu.Item component={Link} to="/account" leftSection={<UserCog size={16} aria-hidden />}>
            Your account
          </Menu.Item>
        )}
        {/* Hidden when the proxy has no sign-out page, because its next request would sign in again. */}
        {(proxy === null || proxy.problem !== null || proxy.signs_out) && (
          <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => signOut.mutate()}>
            Sign out
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
