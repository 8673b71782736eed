import { Skeleton } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type { AlertDetail, AlertRecord } from '../../api/alerts.ts'
import { markersQuery, timeseriesQuery } from '../../api/analytics.ts'
import { useNow } from '../../lib/use-now.ts'
import { compact } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { Chart } from '../../ui/chart/Chart.tsx'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { timeOption } from '../../ui/chart/time-option.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { deployMarks } from '../site/marks.ts'
import { badSpans } from './bad-spans.ts'
import { type Band, withBand } from './band-option.ts'
import { type ChartPlan, chartPlan, judgedMinutes } from './chart-plan.ts'
import { type ChartWindow, chartWindow } from './chart-window.ts'
import { findingIn } from './data-finding.ts'
import { Panel } from './Panel.tsx'
import { ResultsChart } from './ResultsChart.tsx'
import { sentence } from './words.ts'

interface Props {
  alert: AlertDetail
  /** Alerts of the same probe. */
  others: readonly AlertRecord[]
  zone: string | undefined
}

const HEIGHT = 280

/** The figures that show why the alert is there, from before it began. */
export function AlertChart(props: Props) {
  const { subject, details, probe_type, since, resolved_at } = props.alert
  const now = useNow()
  const finding = useMemo(() => (subject === 'check' ? null : findingIn(details)), [subject, details])
  const ended = resolved_at === null ? null : Date.parse(resolved_at)
  const window = chartWindow(Date.parse(since), ended, now, judgedMinutes(probe_type, finding))
  const plan = useMemo(
    () => (finding === null ? null : chartPlan(probe_type, finding, window.bucketMinutes)),
    [finding, probe_type, window.bucketMinutes],
  )
  if (plan === null) return <ResultsChart {...props} />
  return <DataChart {...props} plan={plan} window={window} />
}

function DataChart({
  alert,
  others,
  zone = ownZone(),
  plan,
  window,
}: Props & { plan: ChartPlan; window: ChartWindow }) {
  const { from, to, bucket } = window
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const { answers, error, retry } = useQueries({
    queries: plan.cuts.map((cut) => timeseriesQuery(alert.site_id, range, { bucket, ...cut })),
    combine: (results) => ({
      answers: results.flatMap(({ data }) => (data === undefined ? [] : [data])),
      error: results.find((result) => result.error !== null)?.error ?? null,
      retry: () => {
        for (const result of results) void result.refetch()
      },
    }),
  })
  const { data: markers } = useQuery(markersQuery(alert.site_id, range))
  const isComplete = answers.length === plan.cuts.length
  const series = useMemo(() => (isComplete ? plan.draw(answers) : []), [isComplete, plan, answers])
  const spans = useMemo(() => badSpans(alert, others, from, to), [alert, others, from, to])
  const deploys = useMemo(() => deployMarks(markers ?? [], to - from), [markers, from, to])
  const since = Date.parse(alert.since)
  const ended = alert.resolved_at === null ? null : Date.parse(alert.resolved_at)
  const option = useCallback(
    (colors: ChartColors) => {
      const { format = compact, expected, most } = plan
      // A level that moves with the hour of the week is known for the time that was judged, not for the hours before.
      const during = plan.kind === 'bars' ? { from: since, to: ended ?? to } : null
      const band: Band = { ...plan.band, expected, during, format, ...(most !== undefined && { most }) }
      const data = { series, kind: plan.kind, from, to, zone, format, alerts: spans, deploys }
      return withBand(timeOption(data, colors), band, colors)
    },
    [since, ended, plan, series, from, to, zone, spans, deploys],
  )
  return (
    <Panel title={plan.title} note="green: what passes · red or amber: while it was bad">
      {series.length > 0 ? (
        <Chart option={option} height={HEIGHT} label={`${plan.title}. ${sentence(alert.message)}`} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={retry} />
      ) : (
        <Skeleton height={HEIGHT} radius="md" />
      )}
    </Panel>
  )
}
