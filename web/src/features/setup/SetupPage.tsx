import { Skeleton } from '@mantine/core'
import { useThrottledCallback } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useCallback } from 'react'
import { reportsKey } from '../../api/analytics.ts'
import { clientQuery } from '../../api/clients.ts'
import { refresh } from '../../api/query-client.ts'
import { AboutClient, useSession } from '../../api/session.ts'
import { type SiteRecord, siteQuery } from '../../api/sites.ts'
import { type StreamEvents, useStreamEvent } from '../../api/stream.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { PendingPage } from '../../ui/PendingPage.tsx'
import { FirstEventStep, TryStep, WAITING_MS } from './FirstEventStep.tsx'
import { ingestOf } from './ingest.ts'
import { KeyStep } from './KeyStep.tsx'
import { NotifyStep } from './NotifyStep.tsx'
import { ReferenceStep } from './ReferenceStep.tsx'
import classes from './setup.module.css'
import { TemplateStep } from './TemplateStep.tsx'

/** Leads from a new site to its first event, and through the checks that follow. */
export function SetupPage() {
  const { siteId = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery({
    ...siteQuery(siteId),
    refetchInterval: ({ state }) => (state.data?.last_event_at === null ? WAITING_MS : false),
  })
  if (data !== undefined) {
    return (
      <AboutClient value={data.client_id}>
        <Loaded key={data.id} site={data} />
      </AboutClient>
    )
  }
  return (
    <PendingPage
      title="Setup"
      parents={[{ label: 'Overview', to: '/overview' }]}
      error={error}
      onRetry={() => void refetch()}
      loading="Loading the setup"
    >
      <SetupSkeleton />
    </PendingPage>
  )
}

function Loaded({ site }: { site: SiteRecord }) {
  const { mayChange, public_url } = useSession()
  useArrivals(site.id)
  const base = public_url ?? window.location.origin
  const ingest = ingestOf(base)
  return (
    <>
      <PageHeader
        title="Setup"
        parents={[
          { label: 'Overview', to: '/overview' },
          { label: site.name, to: `/sites/${site.id}` },
        ]}
      >
        How the tag server container of {site.name} reports to Tagwarden. Six steps, two of them optional: about ten
        minutes.
      </PageHeader>
      <Paused site={site} />
      <ol className={classes.steps}>
        <TemplateStep site={site} ingest={ingest} mayChange={mayChange} />
        <KeyStep site={site} ingest={ingest} />
        <TryStep site={site} ingest={ingest} />
        <FirstEventStep site={site} ingest={ingest} />
        <NotifyStep site={site} />
        <ReferenceStep site={site} base={base} />
      </ol>
    </>
  )
}

/** Says that what the site sends is refused, and leads to where it is resumed. */
function Paused({ site: { id, client_id, is_active } }: { site: SiteRecord }) {
  const { mayChange, mayAddClients } = useSession()
  const { data: client } = useQuery(clientQuery(client_id))
  if (is_active && client?.is_active !== false) return null
  return (
    <p className={classes.paused}>
      <b>{is_active ? 'Its client is paused' : 'The site is paused'}: what it sends is refused.</b>{' '}
      {!is_active && mayChange && (
        <TextLink to="/sites/$siteId/edit" params={{ siteId: id }}>
          Resume it
        </TextLink>
      )}
      {is_active && mayAddClients && (
        <TextLink to="/clients/$clientId/edit" params={{ clientId: client_id }}>
          Resume it
        </TextLink>
      )}
    </p>
  )
}

const STEPS = ['a', 'b', 'c', 'd', 'e', 'f']

function SetupSkeleton() {
  return (
    <div className={classes.steps}>
      {STEPS.map((step) => (
        <Skeleton key={step} height={180} />
      ))}
    </div>
  )
}

/** Minimum time between refetches of reports, ms: a busy site has news every two seconds. */
const REFRESH_MS = 4_000

/** Refetches when the stream reports that the site has received something. */
function useArrivals(siteId: string): void {
  const client = useQueryClient()
  const refreshReports = useThrottledCallback(() => refresh(client, { queryKey: reportsKey(siteId) }), REFRESH_MS)
  const listener = useCallback(
    ({ sites }: StreamEvents['ingest']) => {
      const last_event_at = sites.find(({ id }) => id === siteId)?.last_event_at
      if (last_event_at === undefined) return
      client.setQueryData(
        siteQuery(siteId).queryKey,
        (site: SiteRecord | undefined) => site && { ...site, last_event_at },
      )
      refreshReports()
    },
    [client, siteId, refreshReports],
  )
  useStreamEvent('ingest', listener)
}
