import { Button, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Building2, Plus, SearchX } from 'lucide-react'
import { useDeferredValue, useMemo } from 'react'
import { type ClientRecord, clientsQuery } from '../../api/clients.ts'
import { type ClientState, overviewQuery, type Status } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { type SiteRecord, sitesQuery } from '../../api/sites.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { counted } from '../../lib/words.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { planLabel } from './client-values.ts'
import classes from './clients.module.css'
import { RowUsage } from './Usage.tsx'

/** The clients with their plans and usage. */
export function ClientsPage() {
  const clients = useQuery(clientsQuery)
  const sites = useQuery(sitesQuery())
  const { data: overview } = useQuery(overviewQuery)
  const rows = useMemo(
    () =>
      clients.data === undefined || sites.data === undefined
        ? undefined
        : clientRows(clients.data, sites.data, overview?.clients ?? []),
    [clients.data, sites.data, overview],
  )
  const error = clients.error ?? sites.error
  return (
    <>
      <PageHeader title="Clients" actions={<AddClient />}>
        {rows === undefined || rows.length === 0
          ? 'A client owns sites and a plan that they share'
          : `${counted(rows.length, 'client')} with ${counted(sites.data?.length ?? 0, 'site')}`}
      </PageHeader>
      {rows !== undefined ? (
        <Loaded rows={rows} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void Promise.all([clients.refetch(), sites.refetch()])} />
      ) : (
        <Skeleton height={320} />
      )}
    </>
  )
}

function AddClient() {
  if (!useSession().mayAddClients) return null
  return (
    <LinkButton to="/clients/new" leftSection={<Plus size={16} aria-hidden />}>
      New client
    </LinkButton>
  )
}

function Loaded({ rows }: { rows: readonly ClientRow[] }) {
  const [search, setSearch] = useUrlState('q', '')
  const sought = useDeferredValue(search)
  const navigate = useNavigate()
  const columns = useClientColumns()
  const shown = useMemo(() => matchingClients(rows, sought), [rows, sought])
  if (rows.length === 0) {
    return (
      <EmptyState icon={Building2} title="No client yet" action={<AddClient />}>
        A client is a company or project. Its sites send under one plan, and its team is notified when something breaks.
      </EmptyState>
    )
  }
  return (
    <>
      <SearchField
        className={classes.search}
        label="Find clients and sites"
        placeholder="Client, or one of its sites"
        text={search}
        onChange={setSearch}
      />
      {shown.length > 0 ? (
        <DataTable
          label="Clients"
          columns={columns}
          rows={shown}
          keyOf={({ client }) => client.id}
          initialSort={{ key: 'name', isDescending: false }}
          onOpen={({ client }) => void navigate({ to: '/clients/$clientId', params: { clientId: client.id } })}
        />
      ) : (
        <EmptyState
          icon={SearchX}
          title={`No client matches "${search.trim()}"`}
          action={
            <Button variant="default" onClick={() => setSearch('')}>
              Show all clients
            </Button>
          }
        >
          Search clients by name, or by the name or address of a site.
        </EmptyState>
      )}
    </>
  )
}

const PHONE = '(max-width: 48em)'

/** The columns of the list; on a phone a single one, with everything stacked. */
function useClientColumns(): readonly Column<ClientRow>[] {
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
      {!client.is_active && <span className={classes.muted}>paused</span>}
    </span>
  )
}

const SHOWN = 3

function Sites({ row: { sites } }: { row: ClientRow }) {
  if (sites.length === 0) return <span className={classes.muted}>no site yet</span>
  const names = sites.slice(0, SHOWN).map(({ name }) => name)
  const more = sites.length - names.length
  return (
    <span className={classes.names}>
      {names.join(', ')}
      {more > 0 && <span className={classes.muted}> and {counted(more, 'more site')}</span>}
    </span>
  )
}

/** A client in the list, with its sites and their worst state. */
interface ClientRow {
  client: ClientRecord
  sites: readonly SiteRecord[]
  status: Status
}

function clientRows(
  clients: readonly ClientRecord[],
  sites: readonly SiteRecord[],
  states: readonly ClientState[],
): ClientRow[] {
  const sitesByClient = Map.groupBy(sites, ({ client_id }) => client_id)
  const statusById = new Map(states.map(({ id, status }) => [id, status]))
  return clients.map((client) => ({
    client,
    sites: sitesByClient.get(client.id) ?? [],
    status: statusById.get(client.id) ?? 'unknown',
  }))
}

/** The clients whose name, or a site's name or address, contains the text. */
function matchingClients(rows: readonly ClientRow[], search: string): ClientRow[] {
  const sought = search.trim().toLowerCase()
  return rows.filter(({ client, sites }) =>
    [client.name, ...sites.flatMap(({ name, url }) => [name, url])].some((text) => text.toLowerCase().includes(sought)),
  )
}
