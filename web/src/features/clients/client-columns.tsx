import { useMediaQuery } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { counted } from '../../lib/words.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import type { Column } from '../../ui/table/column.ts'
import type { ClientRow } from './client-rows.ts'
import classes from './clients.module.css'
import { planLabel } from './plans.ts'
import { RowUsage } from './RowUsage.tsx'

const PHONE = '(max-width: 48em)'

/** The columns of the list; on a phone one, with everything under each other. */
export function useClientColumns(): readonly Column<ClientRow>[] {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false
  return isPhone ? CARD : WIDE
}

const byName = ({ client }: ClientRow) => client.name

const WIDE: readonly Column<ClientRow>[] = [
  { key: 'name', title: 'Client', sortBy: byName, render: (row) => <Name row={row} /> },
  {
    key: 'sites',
    title: 'Sites',
    width: '30%',
    sortBy: ({ sites }) => sites.length,
    render: (row) => <Sites row={row} />,
  },
  {
    key: 'plan',
    title: 'Plan',
    width: '8rem',
    sortBy: ({ client }) => client.plan,
    render: ({ client }) => planLabel(client.plan),
  },
  {
    key: 'usage',
    title: 'Events this month',
    width: '16rem',
    render: ({ client }) => <RowUsage clientId={client.id} />,
  },
]

const CARD: readonly Column<ClientRow>[] = [
  {
    key: 'name',
    title: 'Client',
    sortBy: byName,
    render: (row) => (
      <div className={classes.card}>
        <Name row={row} />
        <span className={classes.muted}>
          {counted(row.sites.length, 'site')} · plan {planLabel(row.client.plan)}
        </span>
        <RowUsage clientId={row.client.id} />
      </div>
    ),
  },
]

function Name({ row: { client, status } }: { row: ClientRow }) {
  return (
    <span className={classes.name}>
      <StatusMark status={client.is_active ? status : 'unknown'} label={STATUS_WORDS[status]} />
      <Link to="/clients/$clientId" params={{ clientId: client.id }} className={classes.link}>
        {client.name}
      </Link>
      {!client.is_active && <span className={classes.muted}>switched off</span>}
    </span>
  )
}

const SHOWN = 3

function Sites({ row: { sites } }: { row: ClientRow }) {
  if (sites.length === 0) return <span className={classes.muted}>no site yet</span>
  const names = sites.slice(0, SHOWN).map(({ name }) => name)
  const more = sites.length - names.length
  return (
    <span>
      {names.join(', ')}
      {more > 0 && <span className={classes.muted}> and {counted(more, 'more site')}</span>}
    </span>
  )
}
