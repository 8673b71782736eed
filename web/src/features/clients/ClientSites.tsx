import { Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Globe, Plus } from 'lucide-react'
import { useMemo } from 'react'
import type { ClientRecord } from '../../api/clients.ts'
import { overviewQuery, type Status } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { type SiteRecord, sitesQuery } from '../../api/sites.ts'
import { LinkButton, TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import classes from './clients.module.css'

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
        A site is one web property. It gets a key of its own, which its tag server container sends along.
      </EmptyState>
    )
  }
  return <DataTable label={`Sites of ${client.name}`} columns={columns} rows={sites} keyOf={({ id }) => id} />
}

const PHONE = '(max-width: 48em)'

/** The columns of a client's sites; on a phone a single one, with everything stacked. */
function useSiteColumns(): readonly Column<SiteRecord>[] {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false
  const { mayChange } = useSession()
  const { data: overview } = useQuery(overviewQuery)
  return useMemo(() => {
    const states = new Map(overview?.clients.flatMap(({ sites }) => sites.map(({ id, status }) => [id, status])))
    const name = (site: SiteRecord) => <Name site={site} status={states.get(site.id) ?? 'unknown'} />
    const links = (site: SiteRecord) => <Links site={site} mayChange={mayChange} />
    const lastEvent = (site: SiteRecord) => (
      <RelativeTime at={site.last_event_at} zone={site.timezone} never="no event yet" />
    )
    if (isPhone) {
      return [
        {
          key: 'site',
          title: 'Site',
          sortBy: (site) => site.name,
          render: (site) => (
            <div className={classes.card}>
              {name(site)}
              <span className={classes.muted}>
                {site.url} · {site.last_event_at !== null && 'last event '}
                {lastEvent(site)}
              </span>
              {links(site)}
            </div>
          ),
        },
      ]
    }
    return [
      { key: 'name', title: 'Site', sortBy: (site) => site.name, render: name },
      {
        key: 'url',
        title: 'Address',
        sortBy: (site) => site.url,
        render: (site) => <span className={classes.muted}>{site.url}</span>,
      },
      { key: 'last', title: 'Last event', width: '9rem', sortBy: (site) => site.last_event_at, render: lastEvent },
      {
        key: 'zone',
        title: 'Time zone',
        width: '11rem',
        sortBy: (site) => site.timezone,
        render: (site) => site.timezone,
      },
      { key: 'links', title: 'Go to', width: '13rem', render: links },
    ]
  }, [isPhone, mayChange, overview])
}

function Name({ site, status }: { site: SiteRecord; status: Status }) {
  return (
    <span className={classes.name}>
      <StatusMark status={site.is_active ? status : 'unknown'} label={STATUS_WORDS[status]} />
      <Link to="/sites/$siteId" params={{ siteId: site.id }} className={classes.link}>
        {site.name}
      </Link>
      {!site.is_active && <span className={classes.muted}>paused</span>}
      {site.key_revoked_at !== null && <span className={classes.muted}>no valid key</span>}
    </span>
  )
}

function Links({ site, mayChange }: { site: SiteRecord; mayChange: boolean }) {
  const params = { siteId: site.id }
  return (
    <span className={classes.links}>
      <TextLink to="/sites/$siteId/setup" params={params}>
        Setup
      </TextLink>
      <TextLink to="/sites/$siteId/probes" params={params}>
        Probes
      </TextLink>
      {mayChange && (
        <TextLink to="/sites/$siteId/edit" params={params}>
          Settings
        </TextLink>
      )}
    </span>
  )
}
