import { Button, CloseButton, Skeleton, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Building2, Plus, Search, SearchX } from 'lucide-react'
import { useDeferredValue, useMemo } from 'react'
import { clientsQuery } from '../../api/clients.ts'
import { overviewQuery } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { sitesQuery } from '../../api/sites.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { counted } from '../../lib/words.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { useClientColumns } from './client-columns.tsx'
import { type ClientRow, clientRows, matchingClients } from './client-rows.ts'
import classes from './clients.module.css'

/** Who is watched, on which plan, and how much of it is used. */
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
      <PageHeader title="Clients & sites" actions={<AddClient />}>
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
  if (!useSession().mayChange) return null
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
      <TextInput
        className={classes.search}
        aria-label="Find clients and sites"
        placeholder="Client, or one of its sites"
        leftSection={<Search size={16} aria-hidden />}
        rightSection={search !== '' && <CloseButton size="sm" aria-label="Clear" onClick={() => setSearch('')} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
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
