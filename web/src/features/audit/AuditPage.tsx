import { Button, Select, Skeleton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { History } from 'lucide-react'
import { useMemo } from 'react'
import { auditQuery } from '../../api/audit.ts'
import { clientsQuery } from '../../api/clients.ts'
import { probesQuery } from '../../api/probes.ts'
import { sitesQuery } from '../../api/sites.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import classes from './audit.module.css'
import { Entry } from './Entry.tsx'
import { entityOptions, namesOf } from './entities.ts'

/** Options that are drawn; typing finds the others. */
const SHOWN = 100

/** Who changed what, when, from what to what. */
export function AuditPage() {
  const [entity, setEntity] = useUrlState('entity', '', undefined, { push: true })
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    auditQuery(entity === '' ? undefined : entity),
  )
  const { data: clients = [] } = useQuery(clientsQuery)
  const { data: sites = [] } = useQuery(sitesQuery())
  const { data: probes = [] } = useQuery(probesQuery(undefined))
  const options = useMemo(() => entityOptions(clients, sites, probes, entity), [clients, sites, probes, entity])
  const names = useMemo(() => namesOf(clients, sites, probes), [clients, sites, probes])
  const entries = data?.pages.flat()
  return (
    <>
      <PageHeader title="Audit">Who changed what, and from what to what. Secrets are left out of it.</PageHeader>
      <Select
        className={classes.filter}
        label="Changes of"
        placeholder="Everything"
        data={options}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Show everything' }}
        limit={SHOWN}
        nothingFoundMessage="Nothing has this name"
        value={entity === '' ? null : entity}
        onChange={(id) => setEntity(id ?? '')}
      />
      {entries === undefined ? (
        error === null ? (
          <AuditSkeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : entries.length === 0 ? (
        <EmptyState
          icon={History}
          title="No change yet"
          action={
            entity !== '' && (
              <Button variant="default" onClick={() => setEntity('')}>
                Show everything
              </Button>
            )
          }
        >
          Every change of a client, site, probe, silence or maintenance is recorded here.
        </EmptyState>
      ) : (
        <>
          <ol className={classes.entries}>
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} names={names} />
            ))}
          </ol>
          {hasNextPage && (
            <Button
              variant="default"
              className={classes.more}
              loading={isFetchingNextPage}
              onClick={() => void fetchNextPage()}
            >
              Show older changes
            </Button>
          )}
        </>
      )}
    </>
  )
}

const LINES = ['a', 'b', 'c', 'd', 'e']

function AuditSkeleton() {
  return (
    <div className={classes.entries} aria-busy="true">
      <span className="sr-only" role="status">
        Loading the changes
      </span>
      {LINES.map((line) => (
        <div key={line} className={classes.entry}>
          <Skeleton height={40} />
        </div>
      ))}
    </div>
  )
}
