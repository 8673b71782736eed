import { Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type VendorSite, type VendorSites, vendorSitesQuery } from '../../api/tags.ts'
import { type Directory, useDirectory } from '../../lib/use-directory.ts'
import { useSetUrlState } from '../../lib/use-url-state.ts'
import { ownZone } from '../../lib/zone.ts'
import { ClientSelect } from '../../ui/ClientSelect.tsx'
import { TextLink } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { ClientErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { momentLine } from '../today/words.ts'
import { HourStrip } from './HourStrip.tsx'
import { FAILURE_RATE, P95, RUNS } from './measures.ts'
import { Pager } from './Pager.tsx'
import classes from './tags.module.css'
import { phoneWords, verdictWords } from './words.ts'

interface Props {
  /** Null for tags without a known vendor. */
  vendor: string | null
  client: string
  page: number
}

/** A vendor's sites over time: is it down for everyone? */
export function VendorView({ vendor, client, page }: Props) {
  const directory = useDirectory()
  const set = useSetUrlState()
  const go = useSetUrlState({ push: true })
  const { data, error, refetch } = useQuery(vendorSitesQuery(vendor, client, page))
  return (
    <>
      <PageHeader
        title={data?.name ?? (vendor === null ? 'Other tags' : 'Vendor')}
        parents={[{ label: 'Tags', to: '/tags' }]}
        actions={
          <ClientSelect
            directory={directory}
            client={client}
            onChange={(id) => set({ client: id === '' ? undefined : id, page: undefined })}
          />
        }
      >
        {data === undefined ? 'Its sites, hour by hour' : <Verdict sites={data} />}
      </PageHeader>
      {data !== undefined ? (
        data.sites.length > 0 && <Sites sites={data} directory={directory} />
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

function Verdict({ sites }: { sites: VendorSites }) {
  return (
    <>
      {verdictWords(sites)}{' '}
      {sites.incident !== null && (
        <TextLink to="/incidents/$incidentId" params={{ incidentId: sites.incident.id }}>
          Open the incident
        </TextLink>
      )}
    </>
  )
}

function Sites({ sites, directory }: { sites: VendorSites; directory: Directory }) {
  const navigate = useNavigate()
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false
  const zone = ownZone()
  const timeOf = (index: number) => momentLine(Date.parse(sites.hours[index] ?? ''), zone)
  return (
    <DataTable
      label={`Sites with ${sites.name}`}
      columns={isPhone ? phoneColumns(directory, timeOf) : columnsOf(directory, timeOf)}
      rows={sites.sites}
      keyOf={({ site_id }) => site_id}
      onOpen={({ site_id, tags: [tag] }) =>
        void navigate({
          to: '/sites/$siteId',
          params: { siteId: site_id },
          search: (tag === undefined ? {} : { tag }) as object,
        })
      }
    />
  )
}

function Name({ site: { tags, failing }, name = 'A site' }: { site: VendorSite; name: string | undefined }) {
  return (
    <span className={classes.site}>
      <StatusMark status={failing ? 'critical' : 'ok'} size={10} label={failing ? 'failing' : 'no alert'} />
      <span className={classes.names}>
        <span>{name}</span>
        <span className={classes.muted}>{tags.join(', ')}</span>
      </span>
    </span>
  )
}

const PHONE = '(max-width: 48em)'

/** A single stacked column, because beside the name the last hours, which matter most, were cut off. */
const phoneColumns = ({ sites }: Directory, timeOf: (index: number) => string): readonly Column<VendorSite>[] => [
  {
    key: 'site',
    title: 'Site, last 24 hours',
    sortBy: ({ site_id }) => sites[site_id]?.name ?? '',
    render: (site) => (
      <span className={classes.card}>
        <Name site={site} name={sites[site.site_id]?.name} />
        <HourStrip hours={site.hours} timeOf={timeOf} />
        <span className={classes.muted}>{phoneWords(site)}</span>
        {site.versions.length > 0 && <code className={classes.code}>{site.versions.join(', ')}</code>}
      </span>
    ),
  },
]

const columnsOf = ({ sites }: Directory, timeOf: (index: number) => string): readonly Column<VendorSite>[] => [
  {
    key: 'site',
    title: 'Site',
    sortBy: ({ site_id }) => sites[site_id]?.name ?? '',
    render: (site) => <Name site={site} name={sites[site.site_id]?.name} />,
  },
  {
    key: 'hours',
    title: 'Last 24 hours',
    width: '12rem',
    render: ({ hours }) => <HourStrip hours={hours} timeOf={timeOf} />,
  },
  FAILURE_RATE,
  RUNS,
  P95,
  {
    key: 'versions',
    title: 'Container versions',
    render: ({ versions }) =>
      versions.length === 0 ? '–' : <code className={classes.code}>{versions.join(', ')}</code>,
  },
]
