import { Menu, Tooltip, UnstyledButton } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import { BellOff, BookOpen, Ellipsis, type LucideIcon, PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import type { Overview, Status } from '../../api/overview.ts'
import { useMayChange } from '../../api/session.ts'
import { counted } from '../../lib/words.ts'
import { Logo } from '../../ui/Logo.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import classes from './Rail.module.css'

interface NavPage {
  to: string
  label: string
  icon: LucideIcon
}

/** Number of entries that fit side by side at 360 px, with one more for the others. */
const ON_A_PHONE = 4

interface Props {
  worst: Status
  /** Open incidents that no one has acknowledged. */
  waiting: number
  /** Clients without working notifications. */
  unreachable: Overview['clients_without_channel']
  isNarrow: boolean
  onToggle: () => void
}

/** The navigation, on the left of a screen or at the bottom of a phone. */
export function Rail({ worst, waiting, unreachable, isNarrow, onToggle }: Props) {
  const pages = useNavPages()
  const Toggle = isNarrow ? PanelLeftOpen : PanelLeftClose
  const toggleLabel = isNarrow ? 'Show labels' : 'Hide labels'
  return (
    <nav className={classes.rail} data-narrow={isNarrow || undefined} aria-label="Pages">
      <Link to="/" className={classes.brand} aria-label="Tagwarden">
        <Logo size={20} />
        <span className={classes.label}>Tagwarden</span>
        <StatusMark status={worst} size={12} label={`Worst status: ${STATUS_WORDS[worst]}`} />
      </Link>
      <ul className={classes.pages}>
        {pages.map(({ to, label, icon: Icon }, index) => (
          <li key={to} className={index < ON_A_PHONE ? undefined : classes.wide}>
            <Tooltip label={label} position="right" disabled={!isNarrow}>
              <Link to={to} className={classes.item}>
                <Icon size={18} strokeWidth={1.75} aria-hidden />
                <span className={classes.label}>{label}</span>
                {to === '/incidents' && waiting > 0 && <Count waiting={waiting} />}
              </Link>
            </Tooltip>
          </li>
        ))}
        <li className={classes.more}>
          <MorePages pages={pages.slice(ON_A_PHONE)} />
        </li>
      </ul>
      {unreachable.length > 0 && <Unreachable clients={unreachable} isNarrow={isNarrow} />}
      <div className={classes.foot}>
        <a className={classes.item} href="/api/docs" target="_blank" rel="noreferrer">
          <BookOpen size={18} strokeWidth={1.75} aria-hidden />
          <span className={classes.label}>API</span>
        </a>
        <UnstyledButton className={classes.item} onClick={onToggle} aria-label={toggleLabel} title={toggleLabel}>
          <Toggle size={18} strokeWidth={1.75} aria-hidden />
        </UnstyledButton>
      </div>
    </nav>
  )
}

/** A warning about clients without a channel, on every page until there is one. */
function Unreachable({ clients, isNarrow }: { clients: Props['unreachable']; isNarrow: boolean }) {
  const mayChangeOf = useMayChange()
  const [first] = clients
  const mayChange = mayChangeOf(first?.id)
  const words = `No one is notified for ${counted(clients.length, 'client')}`
  return (
    <Tooltip label={words} position="right" disabled={!isNarrow}>
      <Link
        to="/clients/$clientId"
        params={{ clientId: first?.id ?? '' }}
        search={(mayChange ? { dialog: 'channel' } : {}) as object}
        className={`${classes.item} ${classes.unreachable}`}
      >
        <BellOff size={18} strokeWidth={1.75} aria-hidden />
        <span className={classes.label}>
          {words}
          {mayChange && ': fix'}
        </span>
      </Link>
    </Tooltip>
  )
}

/** The number of open incidents that no one has acknowledged. */
function Count({ waiting }: { waiting: number }) {
  return (
    <span className={classes.count}>
      {waiting > 99 ? '99+' : waiting}
      <span className="sr-only"> open</span>
    </span>
  )
}

/** A menu of the pages that do not fit into a phone's bar. */
function MorePages({ pages }: { pages: readonly NavPage[] }) {
  return (
    <Menu position="top-end" width={200}>
      <Menu.Target>
        <UnstyledButton className={classes.item}>
          <Ellipsis size={18} strokeWidth={1.75} aria-hidden />
          <span className={classes.label}>More</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {pages.map(({ to, label, icon: Icon }) => (
          <Menu.Item key={to} component={Link} to={to} leftSection={<Icon size={16} aria-hidden />}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The pages that have an entry in the rail, in the order in which `pages.ts` lists them. */
export function useNavPages(): NavPage[] {
  const routes = Object.values(useRouter().routesByPath)
  return routes.flatMap(({ fullPath, options }) => {
    const nav = options.staticData?.nav
    return nav === undefined ? [] : [{ to: fullPath, ...nav }]
  })
}
