import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Cut, type TimeseriesAnswer, timeseriesQuery } from '../../api/analytics.ts'
import type { Query } from '../../api/client.ts'
import { compact, percent } from '../../lib/words.ts'
import type { TimeSeries } from '../../ui/chart/points.ts'
import type { SpanSelection } from '../../ui/chart/select-span.ts'
import { TimeChart } from '../../ui/chart/TimeChart.tsx'
import { Awaited } from '../../ui/States.tsx'
import { useZoom } from '../../ui/time-range/use-time-range.ts'
import { shareOf } from '../alerts/chart-plan.ts'
import { fineBucket } from '../site/columns.ts'
import { SeriesKey } from '../site/Legend.tsx'
import { Panel } from '../site/Panel.tsx'
import { milliseconds } from '../site/words.ts'
import { labelsOf, type Side } from './sides.ts'

const HEIGHT = 200
const TOKENS = ['--series-1', '--series-4'] as const

/** A chart with one line for each side. */
interface Plan {
  title: string
  cuts: (tag: string | null) => readonly Cut[]
  draw: (answers: readonly TimeseriesAnswer[]) => readonly TimeSeries[]
  format: (value: number) => string
  scale?: 'rate'
}

const tagged = (tag: string | null) => (tag === null ? {} : { tag_key: tag })
const line = (answer: TimeseriesAnswer | undefined, key: string): readonly TimeSeries[] =>
  answer?.series.filter((series) => series.key === key) ?? []
/** Its cuts are for a single tag. */
const badShare = shareOf('bad', { metric: 'failures' }, { metric: 'executions' })

const PLANS: readonly Plan[] = [
  {
    title: 'Executions',
    cuts: (tag) => [{ metric: 'executions', ...tagged(tag) }],
    draw: ([answer]) => line(answer, 'executions'),
    format: compact,
  },
  {
    title: 'Failure rate',
    cuts: (tag) => badShare.cuts.map((cut) => ({ ...cut, ...tagged(tag) })),
    draw: badShare.draw,
    format: percent,
    scale: 'rate',
  },
  {
    title: 'Execution time, 95th percentile',
    cuts: (tag) => [{ metric: 'latency', ...tagged(tag) }],
    draw: ([answer]) => line(answer, 'p95'),
    format: milliseconds,
  },
]

interface Props {
  sides: readonly [Side, Side]
  query: Query
  /** The ends of the axis, epoch ms. */
  from: number
  to: number
}

/** The same figures of both sides on shared axes, which shows at once what only one of them does. */
export function CompareCharts(props: Props) {
  const { from, to } = props
  // One for all charts, so that Escape returns through the earlier ranges of all.
  const zoom = useZoom()
  const selection = useMemo(
    (): SpanSelection => ({ onSelect: (span) => zoom.into(span, { from, to }), onReset: zoom.reset }),
    [zoom, from, to],
  )
  return PLANS.map((plan) => <CompareChart key={plan.title} {...props} plan={plan} selection={selection} />)
}

interface ChartProps extends Props {
  plan: Plan
  selection: SpanSelection
}

function CompareChart({ sides, query, from, to, plan, selection }: ChartProps) {
  const [a, b] = sides
  const labels = useMemo(() => labelsOf(a, b), [a, b])
  const bucket = fineBucket(to - from)
  const first = useSeries(a, query, plan, bucket)
  const second = useSeries(b, query, plan, bucket)
  const series = useMemo(() => {
    if (first.series === undefined || second.series === undefined) return undefined
    return [first.series, second.series].flatMap((each, index) =>
      each.map((one) => ({ ...one, key: labels[index] ?? one.key, token: TOKENS[index] ?? one.token ?? '' })),
    )
  }, [first.series, second.series, labels])
  return (
    <Panel title={plan.title} tools={series !== undefined && <SeriesKey series={series} />}>
      {series === undefined ? (
        <Awaited
          error={first.error ?? second.error}
          onRetry={() => [first, second].map((each) => each.retry())}
          height={HEIGHT}
        />
      ) : (
        <TimeChart
          series={series}
          kind="lines"
          from={from}
          to={to}
          zone={a.site.timezone}
          format={plan.format}
          {...(plan.scale !== undefined && { scale: plan.scale })}
          height={HEIGHT}
          group="compare"
          selection={selection}
          label={`${plan.title} of ${labels.join(' and ')} over time`}
        />
      )}
    </Panel>
  )
}

function useSeries({ site, tag }: Side, query: Query, plan: Plan, bucket: NonNullable<Cut['bucket']>) {
  const { answers, error, retry } = useQueries({
    queries: plan.cuts(tag).map((cut) => timeseriesQuery(site.id, query, { ...cut, bucket })),
    combine: (results) => ({
      answers: results.every(({ data }) => data !== undefined) ? results.flatMap(({ data }) => data ?? []) : undefined,
      error: results.find((result) => result.error !== null)?.error ?? null,
      retry: () => {
        for (const result of results) void result.refetch()
      },
    }),
  })
  const series = useMemo(() => (answers === undefined ? undefined : plan.draw(answers)), [answers, plan])
  return { series, error, retry }
}
