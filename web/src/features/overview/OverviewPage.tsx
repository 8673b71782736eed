import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { type Overview, overviewQuery } from '../../api/overview.ts'
import { useSetBreadcrumbs } from '../../lib/breadcrumbs.ts'
import { useNow } from '../../lib/use-now.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { NoClients, NothingMatches } from './Empty.tsx'
import { NoChannel } from './NoChannel.tsx'
import { OverviewHeader } from './OverviewHeader.tsx'
import { OverviewSkeleton } from './OverviewSkeleton.tsx'
import classes from './overview.module.css'
import { QuotaUse } from './QuotaUse.tsx'
import { Wall } from './Wall.tsx'
import { FILTERS, type Filter, wallRows } from './wall.ts'

/** What is broken, worst first, over all clients and sites. */
export function OverviewPage() {
  useSetBreadcrumbs('Overview')
  const { data, error, refetch } = useQuery(overviewQuery)
  if (data !== undefined) return <Loaded overview={data} />
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <OverviewSkeleton />
}

function Loaded({ overview }: { overview: Overview }) {
  const [filter, setFilter] = useUrlState<Filter>('filter', 'all', FILTERS, { push: true })
  const [search, setSearch] = useUrlState('q', '')
  const [fine, setFine] = useUrlState('fine', 'folded', ['folded', 'shown'])
  // Typing stays quick: the list follows when there is time.
  const sought = useDeferredValue(search)
  const now = useNow()
  const isUnfolded = fine === 'shown'
  const rows = useMemo(
    () => wallRows(overview, { filter, search: sought, isUnfolded, now }),
    [overview, filter, sought, isUnfolded, now],
  )
  return (
    <div className={classes.page}>
      <OverviewHeader {...{ overview, filter, search }} onFilter={setFilter} onSearch={setSearch} />
      <QuotaUse clients={overview.clients_near_quota} />
      <NoChannel clients={overview.clients_without_channel} />
      {rows.length > 0 ? (
        <Wall rows={rows} isUnfolded={isUnfolded} onFold={() => setFine(isUnfolded ? 'folded' : 'shown')} />
      ) : overview.clients.length === 0 ? (
        <NoClients />
      ) : (
        <NothingMatches
          {...{ filter, search }}
          onShowAll={() => {
            setFilter('all')
            setSearch('')
          }}
        />
      )}
    </div>
  )
}
