import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type AlertDetail, type AlertRecord, alertQuery, alertsQuery } from '../../api/alerts.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { Awaited } from '../../ui/Awaited.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { quietAt } from '../../ui/quiet/quiet.ts'
import { useQuiet } from '../../ui/quiet/use-quiet.ts'
import { AlertChart } from './AlertChart.tsx'
import { AlertHead } from './AlertHead.tsx'
import { AlertSkeleton } from './AlertSkeleton.tsx'
import { Before } from './Before.tsx'
import classes from './detail.module.css'
import { Facts } from './Facts.tsx'
import { LatestResults } from './LatestResults.tsx'
import { Panel } from './Panel.tsx'
import { PastAlerts } from './PastAlerts.tsx'
import { Timeline } from './Timeline.tsx'
import { POLL_MS, useLiveAlerts } from './use-live-alerts.ts'

/** Alerts of the same probe that the page lists. */
const SIMILAR = 10

/** One alert: what shows it, what happened, what changed before, and whether it was seen before. */
export function AlertPage() {
  const { alertId = '' } = useParams({ strict: false })
  useLiveAlerts()
  const { data, error, refetch } = useQuery({ ...alertQuery(alertId), refetchInterval: POLL_MS })
  if (data !== undefined) return <Loaded alert={data} />
  return <Missing error={error} onRetry={() => void refetch()} />
}

function Missing({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  return (
    <>
      <PageHeader title="Alert" parents={[{ label: 'Alerts', to: '/alerts' }]} />
      {error !== null ? <ErrorState error={error} onRetry={onRetry} /> : <AlertSkeleton />}
    </>
  )
}

const NONE: readonly AlertRecord[] = []

function Loaded({ alert }: { alert: AlertDetail }) {
  const directory = useDirectory()
  const site = directory.sites[alert.site_id]
  const zone = site?.timezone
  const quiet = quietAt(useQuiet(), alert)
  const ofProbe = useQuery(alertsQuery({ probe_id: alert.probe_id, limit: SIMILAR + 1 }))
  const others = useMemo(() => (ofProbe.data ?? NONE).filter(({ id }) => id !== alert.id), [ofProbe.data, alert.id])
  return (
    <>
      <AlertHead alert={alert} site={site} quiet={quiet} />
      <Facts facts={alert.facts} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <AlertChart key={alert.id} alert={alert} others={others} zone={zone} />
          <Panel title="Latest results" isLater>
            <LatestResults alert={alert} zone={zone} />
          </Panel>
        </div>
        <div className={classes.column}>
          <Panel title="Timeline">
            <Timeline alert={alert} zone={zone} />
          </Panel>
          <Panel title="What changed before">
            <Before alert={alert} zone={zone} />
          </Panel>
          <Panel title="Other alerts of this probe">
            {ofProbe.data === undefined ? (
              <Awaited error={ofProbe.error} onRetry={() => void ofProbe.refetch()} height={96} />
            ) : (
              <PastAlerts alerts={others} zone={zone} />
            )}
          </Panel>
        </div>
      </div>
    </>
  )
}
