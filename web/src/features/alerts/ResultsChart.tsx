import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { AlertDetail, AlertRecord } from '../../api/alerts.ts'
import { markersQuery } from '../../api/analytics.ts'
import type { ResultRecord } from '../../api/probes.ts'
import { useNow } from '../../lib/use-now.ts'
import { Awaited } from '../../ui/Awaited.tsx'
import { TimeChart } from '../../ui/chart/TimeChart.tsx'
import { deployMarks } from '../site/marks.ts'
import { milliseconds } from '../site/words.ts'
import { badSpans } from './bad-spans.ts'
import { Panel } from './Panel.tsx'
import { useResults } from './use-results.ts'
import { sentence } from './words.ts'

interface Props {
  alert: AlertDetail
  others: readonly AlertRecord[]
  zone: string | undefined
}

const HEIGHT = 280
const MINUTE = 60_000
const BEFORE = 24 * 60 * MINUTE

/** How long the target took to answer: what a probe that asks over the network has to show. */
export function ResultsChart({ alert, others, zone }: Props) {
  const now = Math.ceil(useNow() / MINUTE) * MINUTE
  const { data: results, error, refetch } = useResults(alert.probe_id)
  const timed = useMemo(() => answered(results ?? [], Date.parse(alert.since) - BEFORE), [results, alert.since])
  const first = timed[0]
  const from = first === undefined ? now : Date.parse(first.t)
  const { data: markers } = useQuery({
    ...markersQuery(alert.site_id, { from: new Date(from).toISOString(), to: new Date(now).toISOString() }),
    enabled: first !== undefined,
  })
  const series = useMemo(
    () => [{ key: 'Response time', token: '--series-1', areInstants: true, points: timed }],
    [timed],
  )
  const spans = useMemo(() => badSpans(alert, others, from, now), [alert, others, from, now])
  const deploys = useMemo(() => deployMarks(markers ?? [], now - from), [markers, from, now])
  return (
    <Panel title="Response time" note="red or amber: while it was bad">
      {results === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={HEIGHT} />
      ) : timed.length < 2 ? (
        <Text c="dimmed" size="sm">
          This probe's results hold no times to draw. What it found is in the results below.
        </Text>
      ) : (
        <TimeChart
          series={series}
          kind="lines"
          from={from}
          to={now}
          {...(zone === undefined ? {} : { zone })}
          format={milliseconds}
          alerts={spans}
          deploys={deploys}
          height={HEIGHT}
          label={`Response time of the target. ${sentence(alert.message)}`}
        />
      )}
    </Panel>
  )
}

/** The points of results since a time, oldest first; a result without an answer is a gap. */
const answered = (results: readonly ResultRecord[], since: number) => {
  const recent = results.filter(({ executed_at }) => Date.parse(executed_at) >= since).toReversed()
  return recent.some(({ response_time_ms }) => response_time_ms !== null)
    ? recent.map(({ executed_at, response_time_ms }) => ({ t: executed_at, value: response_time_ms }))
    : []
}
