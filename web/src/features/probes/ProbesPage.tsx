import { Button, SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Plus, Radar, SearchX } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { type ProbeRecord, probesQuery, useProbeUpdates } from '../../api/probes.ts'
import { AboutClient, useSession } from '../../api/session.ts'
import { sitesQuery } from '../../api/sites.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { counted } from '../../lib/words.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { NoSitesToProbe } from '../../ui/NoSites.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { useColumns } from './columns.tsx'
import { countsOf, FILTERS, type Filter, matching, type ProbeRow, rowsOf } from './list.ts'
import { DeleteProbe } from './ProbeActions.tsx'
import classes from './probes.module.css'

/** The probes of one site, or of all. */
export function ProbesPage() {
  const { siteId } = useParams({ strict: false })
  const probes = useQuery(probesQuery(siteId))
  const sites = useQuery(sitesQuery())
  useProbeUpdates()
  const rows = useMemo(
    () => (probes.data === undefined || sites.data === undefined ? undefined : rowsOf(probes.data, sites.data)),
    [probes.data, sites.data],
  )
  const site = sites.data?.find(({ id }) => id === siteId)
  const isGone = siteId !== undefined && sites.data !== undefined && site === undefined
  const error = probes.error ?? sites.error
  return (
    <AboutClient value={site?.client_id}>
      <PageHeader
        title="Probes"
        parents={
          site === undefined
            ? []
            : [
                { label: 'Overview', to: '/overview' },
                { label: site.name, to: `/sites/${site.id}` },
              ]
        }
        actions={!isGone && <AddProbe siteId={siteId} />}
      >
        {rows === undefined ? 'Automatic checks of each site' : <Counts rows={rows} />}
      </PageHeader>
      {isGone ? (
        <EmptyState icon={SearchX} title="Site not found">
          It may have been deleted, or the link is incomplete.
        </EmptyState>
      ) : rows !== undefined ? (
        <Loaded rows={rows} siteId={siteId} hasSites={sites.data?.length !== 0} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void Promise.all([probes.refetch(), sites.refetch()])} />
      ) : (
        <ProbesSkeleton />
      )}
    </AboutClient>
  )
}

function AddProbe({ siteId }: { siteId: string | undefined }) {
  if (!useSession().mayChange) return null
  return (
    <LinkButton
      to="/probes/new"
      search={siteId === undefined ? {} : ({ site: siteId } as object)}
      leftSection={<Plus size={16} aria-hidden />}
    >
      Add a probe
    </LinkButton>
  )
}

function Counts({ rows }: { rows: readonly ProbeRow[] }) {
  const { states, off } = countsOf(rows)
  return (
    <ul className={classes.counts}>
      {states.map(({ status, count }) => (
        <li key={status}>
          <StatusMark status={status} size={10} />
          <b>{count}</b> {STATUS_WORDS[status]}
        </li>
      ))}
      {off > 0 && <li>{counted(off, 'probe')} paused</li>}
    </ul>
  )
}

const LABELS: { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'trouble', label: 'Not ok' },
  { value: 'off', label: 'Paused' },
]

interface LoadedProps {
  rows: readonly ProbeRow[]
  siteId: string | undefined
  hasSites: boolean
}

function Loaded({ rows, siteId, hasSites }: LoadedProps) {
  const [filter, setFilter] = useUrlState<Filter>('filter', 'all', FILTERS, { push: true })
  const [search, setSearch] = useUrlState('q', '')
  const sought = useDeferredValue(search)
  const shown = useMemo(() => matching(rows, filter, sought), [rows, filter, sought])
  const [deleting, setDeleting] = useState<ProbeRecord | null>(null)
  const columns = useColumns({ isOneSite: siteId !== undefined, onDelete: setDeleting })
  if (rows.length === 0) return <NoProbes siteId={siteId} hasSites={hasSites} />
  return (
    <>
      <div className={classes.tools}>
        <SearchField
          className={classes.search}
          label="Find probes"
          placeholder="Probe, site or message"
          text={search}
          onChange={setSearch}
        />
        <SegmentedControl
          aria-label="Which probes"
          data={LABELS}
          value={filter}
          onChange={setFilter}
          transitionDuration={0}
        />
      </div>
      {shown.length > 0 ? (
        <DataTable label="Probes" columns={columns} rows={shown} keyOf={({ probe }) => probe.id} />
      ) : (
        <NothingMatches
          filter={filter}
          search={search}
          onShowAll={() => {
            setFilter('all')
            setSearch('')
          }}
        />
      )}
      <DeleteProbe probe={deleting} onClose={() => setDeleting(null)} />
    </>
  )
}

interface NoProbesProps {
  siteId: string | undefined
  hasSites: boolean
}

function NoProbes({ siteId, hasSites }: NoProbesProps) {
  const { mayChange } = useSession()
  if (!hasSites) return <NoSitesToProbe />
  return (
    <EmptyState
      icon={Radar}
      title={siteId === undefined ? 'No probe yet' : 'No probe watches this site'}
      action={
        mayChange && (
          <LinkButton
            to="/probes/new"
            search={siteId === undefined ? {} : ({ site: siteId } as object)}
            leftSection={<Plus size={16} aria-hidden />}
          >
            Add a probe
          </LinkButton>
        )
      }
    >
      A probe checks one thing at regular intervals: whether the tag server answers, whether events come as usual, which
      tags fail. Without one a site has no status, and no one is notified when it breaks.
    </EmptyState>
  )
}

interface NothingMatchesProps {
  filter: Filter
  search: string
  onShowAll: () => void
}

const TITLES: Readonly<Record<Filter, string>> = {
  all: 'No probe',
  trouble: 'Every probe is ok',
  off: 'No probe is paused',
}

function NothingMatches({ filter, search, onShowAll }: NothingMatchesProps) {
  const sought = search.trim()
  return (
    <EmptyState
      icon={SearchX}
      title={sought === '' ? TITLES[filter] : `No probe matches "${sought}"`}
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all probes
        </Button>
      }
    >
      {sought === ''
        ? 'None of the probes is in this state now.'
        : 'Search probes by name, type, site or last message.'}
    </EmptyState>
  )
}

const LINES = ['a', 'b', 'c', 'd', 'e', 'f']

/** As large as the page, so that nothing jumps when it loads. */
function ProbesSkeleton() {
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading the probes
      </span>
      <div className={classes.tools}>
        <Skeleton height={36} className={classes.search} />
        <Skeleton height={36} width={220} />
      </div>
      <div className={classes.ghosts}>
        {LINES.map((line) => (
          <Skeleton key={line} height={20} />
        ))}
      </div>
    </div>
  )
}
