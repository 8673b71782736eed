import { ActionIcon, Button, SegmentedControl, Skeleton, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Building2, CircleCheck, Presentation, RadioTower, SearchX } from 'lucide-react'
import { useDeferredValue, useEffect, useMemo } from 'react'
import { type Overview, overviewQuery } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { useStreamState } from '../../api/stream.ts'
import { useNow } from '../../lib/external.ts'
import { useSetUrlState, useUrlState } from '../../lib/use-url-state.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { useSetBreadcrumbs } from '../../ui/PageHeader.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS, STATUSES } from '../../ui/status/status.ts'
import { SavedViews } from '../../ui/views/SavedViews.tsx'
import listClasses from '../../ui/WindowList.module.css'
import { NoChannel, QuotaUse } from './Banners.tsx'
import { OpenIncidents } from './OpenIncidents.tsx'
import classes from './overview.module.css'
import { SiteList } from './SiteList.tsx'
import { FILTERS, type Filter, listRows, verdict } from './site-list.ts'

/** What is broken, worst first, over all clients and sites. */
export function OverviewPage() {
  useSetBreadcrumbs('Overview')
  const { data, error, refetch } = useQuery(overviewQuery)
  if (data !== undefined) return <Loaded overview={data} />
  return (
    <>
      <h1 className="sr-only">Overview</h1>
      {error !== null ? <ErrorState error={error} onRetry={() => void refetch()} /> : <OverviewSkeleton />}
    </>
  )
}

function Loaded({ overview }: { overview: Overview }) {
  const [filter, setFilter] = useUrlState<Filter>('filter', 'all', FILTERS, { push: true })
  const [search, setSearch] = useUrlState('q', '')
  const [fine, setFine] = useUrlState('fine', 'folded', ['folded', 'shown'])
  // Deferred, so that typing stays quick while the list is rendered.
  const sought = useDeferredValue(search)
  useClientAsSearch(overview)
  const now = useNow()
  const isUnfolded = fine === 'shown'
  const rows = useMemo(
    () => listRows(overview, { filter, search: sought, isUnfolded, now }),
    [overview, filter, sought, isUnfolded, now],
  )
  return (
    <div className={classes.page}>
      <OverviewHeader {...{ overview, filter, search }} onFilter={setFilter} onSearch={setSearch} />
      <SavedViews />
      <QuotaUse clients={overview.clients_near_quota} />
      <NoChannel clients={overview.clients_without_channel} />
      <OpenIncidents {...overview} />
      {rows.length > 0 ? (
        <SiteList rows={rows} isUnfolded={isUnfolded} onFold={() => setFine(isUnfolded ? 'folded' : 'shown')} />
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

/** Other pages narrow to a client by its id, this one by its name. */
function useClientAsSearch({ clients }: Overview): void {
  const [client] = useUrlState('client', '')
  const set = useSetUrlState()
  useEffect(() => {
    if (client !== '') set({ client: undefined, q: clients.find(({ id }) => id === client)?.name })
  }, [client, clients, set])
}

interface OverviewHeaderProps {
  overview: Overview
  filter: Filter
  search: string
  onFilter: (filter: Filter) => void
  onSearch: (search: string) => void
}

const FILTER_LABELS: { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'broken', label: 'Broken' },
  { value: 'silent', label: 'Silent' },
]

function OverviewHeader({ overview, filter, search, onFilter, onSearch }: OverviewHeaderProps) {
  return (
    <header className={classes.header}>
      <div className={classes.verdict}>
        <h1>{verdict(overview)}</h1>
        <Totals overview={overview} />
      </div>
      {overview.clients.length > 0 && (
        <div className={classes.tools} data-print="no">
          <SearchField
            className={classes.search}
            label="Find sites and clients"
            placeholder="Site, address or client"
            text={search}
            onChange={onSearch}
          />
          <SegmentedControl
            aria-label="Which sites"
            data={FILTER_LABELS}
            value={filter}
            onChange={onFilter}
            transitionDuration={0}
          />
          <WallLink />
        </div>
      )}
    </header>
  )
}

/** Opens the wall view, in full screen if the browser allows it. */
function WallLink() {
  return (
    <Tooltip label="Show on a wall">
      <ActionIcon
        component={Link}
        to="/wall"
        variant="default"
        size={36}
        aria-label="Show on a wall"
        className={classes.wallLink}
        onClick={() => {
          if (!document.fullscreenEnabled) return
          document.documentElement.requestFullscreen().catch(() => {
            // Full screen was refused; the page also works in a window.
          })
        }}
      >
        <Presentation size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function Totals({ overview: { totals } }: { overview: Overview }) {
  return (
    <ul className={classes.totals}>
      {STATUSES.filter((status) => totals[status] > 0).map((status) => (
        <li key={status}>
          <StatusMark status={status} size={10} />
          <b>{totals[status]}</b> {STATUS_WORDS[status]}
        </li>
      ))}
      <li className={classes.live}>
        <Live />
      </li>
    </ul>
  )
}

function Live() {
  const state = useStreamState()
  return <span data-state={state}>{state === 'open' ? 'live' : 'connecting'}</span>
}

function NoClients() {
  const { mayAddClients } = useSession()
  return (
    <EmptyState
      icon={RadioTower}
      title="Nothing is watched yet"
      action={
        mayAddClients && (
          <LinkButton to="/clients/new" leftSection={<Building2 size={16} aria-hidden />}>
            Create a client
          </LinkButton>
        )
      }
    >
      Every site has one line here, the broken ones first. A site belongs to a client, and its tag server sends to
      Tagwarden with the site's key. <code>npm run demo</code> shows it with example data.
    </EmptyState>
  )
}

interface NothingMatchesProps {
  filter: Filter
  search: string
  onShowAll: () => void
}

function NothingMatches({ filter, search, onShowAll }: NothingMatchesProps) {
  const showAll = (
    <Button variant="default" onClick={onShowAll}>
      Show all sites
    </Button>
  )
  if (search.trim() !== '') {
    return (
      <EmptyState icon={SearchX} title={`No site matches "${search.trim()}"`} action={showAll}>
        Search sites by name, address or client.
      </EmptyState>
    )
  }
  const [title, text] =
    filter === 'silent'
      ? ['No site is silent', 'Every site sent something within the last hour.']
      : ['Nothing is broken', 'No site has an unresolved alert or a failing probe.']
  return (
    <EmptyState icon={CircleCheck} title={title ?? ''} action={showAll}>
      {text}
    </EmptyState>
  )
}

const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** As large as the page, so that nothing jumps when it loads. */
function OverviewSkeleton() {
  return (
    <div className={classes.page} aria-busy="true">
      <span className="sr-only" role="status">
        Loading the overview
      </span>
      <header className={classes.header}>
        <div className={classes.verdict}>
          <Skeleton height={26} width={180} />
          <Skeleton height={20} width={260} />
        </div>
        <div className={classes.tools}>
          <Skeleton height={36} className={classes.search} />
          <Skeleton height={36} width={190} />
        </div>
      </header>
      <div className={listClasses.list}>
        {LINES.map((line) => (
          <div key={line} className={classes.site}>
            <Skeleton height={12} width={12} circle />
            <Skeleton height={14} width="60%" />
            <Skeleton height={14} width="40%" />
          </div>
        ))}
      </div>
    </div>
  )
}
