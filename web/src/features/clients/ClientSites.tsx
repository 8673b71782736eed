import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Globe, Plus } from 'lucide-react'
import type { ClientRecord } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { type SiteRecord, sitesQuery } from '../../api/sites.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import classes from './clients.module.css'
import { useSiteColumns } from './site-columns.tsx'

export function ClientSites({ client }: { client: ClientRecord }) {
  const { data, error, refetch } = useQuery(sitesQuery(client.id))
  return (
    <section className={classes.section} aria-labelledby="sites">
      <div className={classes.sectionHead}>
        <h2 id="sites">Sites</h2>
        {data !== undefined && data.length > 0 && <AddSite client={client} />}
      </div>
      {data !== undefined ? (
        <Sites client={client} sites={data} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={120} />
      )}
    </section>
  )
}

function AddSite({ client }: { client: ClientRecord }) {
  if (!useSession().mayChange) return null
  return (
    <LinkButton
      to="/clients/$clientId/sites/new"
      params={{ clientId: client.id }}
      leftSection={<Plus size={16} aria-hidden />}
    >
      New site
    </LinkButton>
  )
}

function Sites({ client, sites }: { client: ClientRecord; sites: readonly SiteRecord[] }) {
  const columns = useSiteColumns()
  if (sites.length === 0) {
    return (
      <EmptyState icon={Globe} title="No site yet" action={<AddSite client={client} />}>
        A site is one web property. It gets a key of its own, which its tag server container sends with.
      </EmptyState>
    )
  }
  return <DataTable label={`Sites of ${client.name}`} columns={columns} rows={sites} keyOf={({ id }) => id} />
}
