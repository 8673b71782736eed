import { useDirectory, useIsAwaited, useIsDirectoryAwaited } from '../../lib/use-directory.ts'
import { PendingPage } from '../../ui/PendingPage.tsx'
import '@mantine/core/styles/Tabs.layer.css'
import { Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { memo, useCallback, useDeferredValue } from 'react'
import { ALERTS_KEY } from '../../api/alerts.ts'
import { reportsKey, type SiteReport } from '../../api/analytics.ts'
import type { Query } from '../../api/client.ts'
import { PROBES_KEY } from '../../api/probes.ts'
import { refresh } from '../../api/query-client.ts'
import { AboutClient } from '../../api/session.ts'
import { type SiteRecord, siteQuery } from '../../api/sites.ts'
import { useStreamEvent } from '../../api/stream.ts'
import { ErrorState } from '../../ui/States.tsx'
import { useTimeRange } from '../../ui/time-range/use-time-range.ts'
import { AnnotateDialog } from './AnnotateDialog.tsx'
import { EventFocus, TagFocus } from './Focus.tsx'
import { NoData, ReportSkeleton } from './NoData.tsx'
import { PairFocus } from './PairFocus.tsx'
import { Payloads } from './Payloads.tsx'
import { SiteAlerts, unresolvedAlertsQuery, Warnings } from './SiteAlerts.tsx'
import { SiteCharts } from './SiteCharts.tsx'
import { SiteFigures } from './SiteFigures.tsx'
import { SiteHeader } from './SiteHeader.tsx'
import classes from './site.module.css'
import { SiteScopeContext, type SiteView, TABS, type Tab, useSite, useSiteScope, useSiteView } from './site-scope.ts'
import { TagsAndEvents } from './TagsAndEvents.tsx'
import { useSiteReport } from './use-site-report.ts'

/** One site: what is broken, since when, how bad, and what changed. */
export function SitePage() {
  const { siteId = '' } = useParams({ strict: false })
  const { data: site, error, refetch } = useQuery(siteQuery(siteId))
  // Wait for alerts and names, which would push the content down when they came later; but not if loading them fails.
  const isWithoutAlerts = useIsAwaited(useQuery(unresolvedAlertsQuery(siteId)))
  const isWithoutNames = useIsDirectoryAwaited()
  // The pages that link here have the name already.
  const directory = useDirectory()
  const name = site?.name ?? directory.sites[siteId]?.name ?? 'Site'
  useLive(siteId)
  if (site !== undefined && !isWithoutAlerts && !isWithoutNames) {
    return (
      <AboutClient value={site.client_id}>
        <Loaded key={site.id} site={site} />
      </AboutClient>
    )
  }
  return (
    <PendingPage
      title={name}
      parents={[{ label: 'Overview', to: '/overview' }]}
      error={error}
      onRetry={() => void refetch()}
      loading="Loading the site"
    >
      <ReportSkeleton />
    </PendingPage>
  )
}

function Loaded({ site }: { site: SiteRecord }) {
  const view = useSiteView()
  // Deferred, so that a click responds at once while the new charts and tables are drawn in pieces in the background.
  const shown = useDeferredValue(view)
  const { query } = useTimeRange()
  const { report, error, refetch } = useSiteReport(site, query, shown.comparison)
  return (
    <div className={classes.page}>
      <SiteHeader site={site} query={query} view={view} />
      <Alerts site={site} />
      {report !== undefined ? (
        <Report {...{ site, report, query }} view={shown} chosen={view.tab} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <ReportSkeleton />
      )}
    </div>
  )
}

interface ReportProps {
  site: SiteRecord
  report: SiteReport
  query: Query
  view: SiteView
  /** The chosen tab; `view` follows once it is drawn. */
  chosen: Tab
}

function Report({ site, report, query, view, chosen }: ReportProps) {
  const scope = useSiteScope(site, report, query, view)
  return (
    <SiteScopeContext value={scope}>
      <div className={classes.charts}>
        <AnnotateDialog />
        <Warnings report={report} />
        {report.last_seen !== null && <Numbers />}
        <Tabs
          value={view.tab}
          onChange={(tab) => view.setTab((tab ?? 'charts') as Tab)}
          keepMounted={false}
          classNames={{ list: classes.tabs ?? '', tab: classes.tab ?? '' }}
        >
          <Tabs.List>
            {TABS.map((tab) => (
              <Tabs.Tab key={tab} value={tab} data-chosen={tab === chosen || undefined}>
                {TAB_NAMES[tab]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {TABS.map((tab) => (
            <Tabs.Panel key={tab} value={tab} pt="md">
              <TabContent tab={tab} />
            </Tabs.Panel>
          ))}
        </Tabs>
      </div>
    </SiteScopeContext>
  )
}

const Alerts = memo(SiteAlerts)
const Numbers = memo(SiteFigures)

const TAB_NAMES: Readonly<Record<Tab, string>> = {
  charts: 'Charts',
  tags: 'Tags and events',
  payloads: 'Last payloads',
}

const TabContent = memo(function TabContent({ tab }: { tab: Tab }) {
  const { report, view } = useSite()
  const { focus } = view
  if (tab === 'payloads') return <Payloads />
  if (report.total_events === 0 && report.tags.length === 0) return <NoData />
  if (tab === 'tags') return <TagsAndEvents />
  if (focus?.kind === 'tag') return <TagFocus key={focus.name} name={focus.name} />
  if (focus?.kind === 'event') return <EventFocus key={focus.name} name={focus.name} />
  if (focus?.kind === 'pair') return <PairFocus tag={focus.tag} event={focus.event} />
  return <SiteCharts />
})

/** Refetches at once what the stream reports about this site; the rest is refetched every minute. */
function useLive(siteId: string): void {
  const client = useQueryClient()
  const onStatus = useCallback(
    ({ probes }: { probes: readonly { site_id: string }[] }) => {
      if (!probes.some(({ site_id }) => site_id === siteId)) return
      refresh(client, { queryKey: PROBES_KEY })
      refresh(client, { queryKey: ALERTS_KEY })
    },
    [client, siteId],
  )
  useStreamEvent('status', onStatus)
  const onIngest = useCallback(
    ({ sites }: { sites: readonly { id: string }[] }) => {
      if (!sites.some(({ id }) => id === siteId)) return
      // People wait for a site's first event, so refetch reports without any at once.
      refresh(client, {
        queryKey: reportsKey(siteId),
        predicate: ({ state }) => (state.data as Partial<SiteReport> | undefined)?.last_seen === null,
      })
    },
    [client, siteId],
  )
  useStreamEvent('ingest', onIngest)
}
