import { Skeleton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type ProbeRecord, probeQuery, probeTypesQuery, resultsQuery, useProbeUpdates } from '../../api/probes.ts'
import { AboutClient } from '../../api/session.ts'
import { siteQuery } from '../../api/sites.ts'
import { useLeadOn } from '../../lib/use-lead-on.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { HeatStrip } from '../../ui/HeatStrip.tsx'
import { TextLink } from '../../ui/LinkButton.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { PendingPage } from '../../ui/PendingPage.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { ExpectationPanel } from './ExpectationPanel.tsx'
import { inWords, markOf, pausedWords, runs } from './list.ts'
import { DeleteProbe, ProbeActions } from './ProbeActions.tsx'
import { PushPanel } from './PushPanel.tsx'
import classes from './probe.module.css'
import { RESULT_VIEWS, Results } from './Results.tsx'
import { SpecialDays } from './SpecialDays.tsx'

/** One probe: its status and results. */
export function ProbePage() {
  const { probeId = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(probeQuery(probeId))
  useProbeUpdates()
  if (data !== undefined) return <Loaded key={data.id} probe={data} />
  return (
    <PendingPage
      title="Probe"
      parents={[{ label: 'Probes', to: '/probes' }]}
      error={error}
      onRetry={() => void refetch()}
      loading="Loading the probe"
    >
      <Skeleton height={320} />
    </PendingPage>
  )
}

function Loaded({ probe }: { probe: ProbeRecord }) {
  const leadOn = useLeadOn()
  const { data: site } = useQuery(siteQuery(probe.site_id))
  const { data: types } = useQuery(probeTypesQuery)
  const [view, setView] = useUrlState('results', 'all', RESULT_VIEWS)
  const latest = useInfiniteQuery(resultsQuery(probe.id)).data?.pages.flat()
  const results = useInfiniteQuery(resultsQuery(probe.id, undefined, view === 'changes'))
  const [isDeleting, setDeleting] = useState(false)
  const rows = results.data?.pages.flat()
  const zone = site?.timezone
  const type = types?.find(({ probe_type }) => probe_type === probe.probe_type)
  return (
    <AboutClient value={site?.client_id}>
      <PageHeader
        title={probe.name}
        parents={[
          { label: 'Probes', to: '/probes' },
          ...(site === undefined ? [] : [{ label: site.name, to: `/sites/${site.id}/probes` }]),
        ]}
        mark={<StatusMark {...markOf(probe)} size={16} />}
        actions={<ProbeActions probe={probe} onDelete={() => setDeleting(true)} />}
      >
        {type?.description}
      </PageHeader>
      <dl className={classes.facts}>
        <div>
          <dt>Site</dt>
          <dd>
            {site === undefined ? (
              '…'
            ) : (
              <TextLink to="/sites/$siteId" params={{ siteId: site.id }}>
                {site.name}
              </TextLink>
            )}
          </dd>
        </div>
        <div>
          <dt>Type</dt>
          <dd>
            <code>{probe.probe_type}</code>
          </dd>
        </div>
        <div>
          <dt>Runs</dt>
          <dd>every {inWords(probe.interval_seconds)}</dd>
        </div>
        <div>
          <dt>Next run</dt>
          <dd>
            {runs(probe) ? (
              <RelativeTime at={probe.next_run_at} due="now" {...(zone === undefined ? {} : { zone })} />
            ) : (
              pausedWords(probe)
            )}
          </dd>
        </div>
        <div>
          <dt>Alerts</dt>
          <dd>{probe.failure_threshold === 1 ? 'at once' : `after ${probe.failure_threshold} bad results in a row`}</dd>
        </div>
      </dl>
      {latest === undefined ? <Skeleton height={40} /> : <HeatStrip results={latest} zone={zone} size="page" />}
      {probe.probe_type === 'data_volume' && <ExpectationPanel probe={probe} zone={zone} newest={latest?.[0]} />}
      {probe.probe_type === 'data_volume' && <SpecialDays siteId={probe.site_id} zone={zone} />}
      {probe.probe_type === 'push' && <PushPanel probe={probe} zone={zone} />}
      {rows !== undefined ? (
        <Results
          rows={rows}
          view={view}
          onView={setView}
          zone={zone}
          paused={probe.paused_by}
          hasMore={results.hasNextPage}
          isLoading={results.isFetchingNextPage}
          onMore={() => void results.fetchNextPage()}
        />
      ) : results.error !== null ? (
        <ErrorState error={results.error} onRetry={() => void results.refetch()} />
      ) : (
        <Skeleton height={320} mt="lg" />
      )}
      <DeleteProbe
        probe={isDeleting ? probe : null}
        onClose={() => setDeleting(false)}
        onDeleted={() =>
          void leadOn({ to: '/sites/$siteId/probes', params: { siteId: probe.site_id }, ignoreBlocker: true })
        }
      />
    </AboutClient>
  )
}
