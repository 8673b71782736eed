import { Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Tags } from 'lucide-react'
import { overviewQuery } from '../../api/overview.ts'
import { type Catalogue, catalogueQuery, type VendorEntry } from '../../api/tags.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useSetUrlState, useUrlState } from '../../lib/use-url-state.ts'
import { counted, whole } from '../../lib/words.ts'
import { ClientSelect } from '../../ui/ClientSelect.tsx'
import { NoSites } from '../../ui/NoSites.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { ClientErrorState, EmptyState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { SavedViews } from '../../ui/views/SavedViews.tsx'
import { FAILURE_RATE, P95, RUNS } from './measures.ts'
import { Pager } from './Pager.tsx'
import classes from './tags.module.css'
import { VendorView } from './VendorView.tsx'
import { failingWords, OTHER_TAGS, phoneWords, versionWords } from './words.ts'

/** A vendor's first letter instead of its logo, which would have to be loaded from elsewhere and is a trademark. */
const VendorMark = ({ name }: { name: string }) => (
  <span className={classes.mark} aria-hidden>
    {[...name.replace(/^a /, '')][0]?.toUpperCase()}
  </span>
)

/** The tags by vendor, or one vendor with its sites over time. */
export function TagsPage() {
  const [vendor] = useUrlState('vendor', '')
  const [client] = useUrlState('client', '')
  const [page] = useUrlState('page', '0')
  const at = Math.max(0, Math.floor(Number(page)) || 0)
  return vendor === '' ? (
    <VendorList client={client} page={at} />
  ) : (
    <VendorView vendor={vendor === OTHER_TAGS ? null : vendor} client={client} page={at} />
  )
}

function VendorList({ client, page }: { client: string; page: number }) {
  const directory = useDirectory()
  const set = useSetUrlState()
  const go = useSetUrlState({ push: true })
  const { data, error, refetch } = useQuery(catalogueQuery(client, page))
  return (
    <>
      <PageHeader
        title="Tags"
        actions={
          <ClientSelect
            directory={directory}
            client={client}
            onChange={(id) => set({ client: id === '' ? undefined : id, page: undefined })}
          />
        }
      >
        By vendor, across all sites, in the last 24 whole hours
      </PageHeader>
      <SavedViews />
      {data !== undefined ? (
        <Loaded catalogue={data} onOpen={({ vendor }) => go({ vendor: vendor ?? OTHER_TAGS, page: undefined })} />
      ) : error !== null ? (
        <ClientErrorState
          error={error}
          client={client}
          onShowAll={() => set({ client: undefined, page: undefined })}
          onRetry={() => void refetch()}
        />
      ) : (
        <Skeleton height={320} radius="md" />
      )}
      {data !== undefined && (
        <Pager page={page} total={data.total} onTurn={(next) => go({ page: next === 0 ? undefined : String(next) })} />
      )}
    </>
  )
}

function Loaded({ catalogue, onOpen }: { catalogue: Catalogue; onOpen: (entry: VendorEntry) => void }) {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false
  const { data: overview } = useQuery(overviewQuery)
  if (catalogue.total === 0) {
    if (overview?.totals.sites === 0)
      return <NoSites title="No site is watched">The tags of all sites are listed here, by vendor.</NoSites>
    return (
      <EmptyState icon={Tags} title="No tag ran in the last 24 whole hours">
        A site's tags are here from the hour after they first report: its setup says how.
      </EmptyState>
    )
  }
  return (
    <>
      {!catalogue.complete && (
        <p className={classes.note}>Not all sites are read yet: the others follow automatically.</p>
      )}
      <DataTable
        label="Tags by vendor"
        columns={isPhone ? PHONE_COLUMNS : COLUMNS}
        rows={catalogue.vendors}
        keyOf={({ vendor }) => vendor ?? OTHER_TAGS}
        onOpen={onOpen}
      />
    </>
  )
}

const PHONE = '(max-width: 48em)'

const Vendor = ({ entry: { name, tags } }: { entry: VendorEntry }) => (
  <span className={classes.vendor}>
    <VendorMark name={name} />
    <span>
      {name} <span className={classes.count}>{counted(tags, 'tag')}</span>
    </span>
  </span>
)

const Failing = ({ entry }: { entry: VendorEntry }) => (
  <span className={classes.failing}>
    {entry.failing_sites > 0 && <StatusMark status="critical" size={10} />}
    {failingWords(entry)}
  </span>
)

/** A single stacked column, because beside the name most figures were out of sight. */
const PHONE_COLUMNS: readonly Column<VendorEntry>[] = [
  {
    key: 'failing',
    title: 'Vendor, failing first',
    render: (entry) => (
      <span className={classes.card}>
        <span className={classes.line}>
          <Vendor entry={entry} />
          {entry.failing_sites > 0 && <Failing entry={entry} />}
        </span>
        <span className={classes.muted}>
          {counted(entry.sites, 'site')} · {phoneWords(entry)}
        </span>
      </span>
    ),
  },
]

const COLUMNS: readonly Column<VendorEntry>[] = [
  {
    key: 'name',
    title: 'Vendor',
    sortBy: ({ name }) => name,
    render: (entry) => <Vendor entry={entry} />,
  },
  {
    key: 'failing',
    title: 'Failing now',
    sortBy: ({ failing_sites }) => failing_sites,
    render: (entry) => <Failing entry={entry} />,
  },
  { key: 'sites', title: 'Sites', isNumber: true, sortBy: ({ sites }) => sites, render: ({ sites }) => whole(sites) },
  RUNS,
  FAILURE_RATE,
  P95,
  {
    key: 'versions',
    title: 'Container versions',
    sortBy: ({ versions }) => versions.mixed,
    render: versionWords,
  },
]
