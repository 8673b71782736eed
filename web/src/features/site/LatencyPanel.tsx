import { useMemo } from 'react'
import type { TimeSeries } from '../../ui/chart/points.ts'
import { fineBucket } from './columns.ts'
import { Legend, type LegendRow, SeriesKey } from './Legend.tsx'
import { ChartPanel, useComparedSeries } from './Panel.tsx'
import { useSite } from './site-scope.ts'
import { change, figure, milliseconds } from './words.ts'

const HEIGHT = 176
const TAGS = 6
const ALL = ''
const KEYS = ['p50', 'p95', 'p99']
/** Higher percentiles have stronger colours. */
const TOKENS: Readonly<Record<string, string>> = { p50: '--series-other', p95: '--accent-text', p99: '--series-7' }

const MISSING = 'No execution time was reported in this period. The tag sends it as "execution_time".'

/** Execution times: percentiles of all tags, or of one. Batches contain only means. */
export function LatencyPanel({ tag }: { tag?: string }) {
  const { frame, view } = useSite()
  const key = tag ?? view.timedTag
  const bucket = fineBucket(frame.to - frame.from)
  const { answer, earlier } = useComparedSeries({ metric: 'latency', bucket, ...(key !== ALL && { tag_key: key }) })
  const { data } = answer
  const series = useMemo(() => {
    if (data === undefined) return undefined
    const shown = withPercentiles(data.series).map((each) => ({ ...each, token: TOKENS[each.key] ?? '--series-1' }))
    if (earlier === undefined) return shown
    const before = earlier.filter((each) => each.key === (shown.length === 1 ? 'avg' : 'p95'))
    return [...shown, ...before.map((each) => ({ ...each, key: `${each.key} before`, isReference: true }))]
  }, [data, earlier])
  const isUnknown = series?.every(({ points }) => points.every(({ value }) => value === null)) ?? false
  return (
    <ChartPanel
      title="Execution time"
      unit={key === ALL ? 'of all tags' : `of ${key}`}
      answer={answer}
      series={series}
      kind="lines"
      height={HEIGHT}
      format={milliseconds}
      label={`Execution time of ${key === ALL ? 'all tags' : key}: percentiles over time`}
      note={isUnknown ? MISSING : undefined}
      tools={series !== undefined && !isUnknown && <SeriesKey series={series} />}
      side={tag === undefined ? <Tags picked={key} /> : <Percentiles tag={tag} />}
    />
  )
}

/** The percentiles, or the mean when there were only batches. */
function withPercentiles(series: readonly TimeSeries[]): TimeSeries[] {
  const percentiles = series.filter(({ key }) => KEYS.includes(key))
  const isKnown = percentiles.some(({ points }) => points.some(({ value }) => value !== null))
  return isKnown ? percentiles : series.filter(({ key }) => key === 'avg')
}

/** The slowest tags, to choose from. */
function Tags({ picked }: { picked: string }) {
  const { report, view } = useSite()
  const before = new Map(report.previous?.tags.map((tag) => [tag.tag_key, tag]))
  const slowest = report.tags.toSorted((a, b) => timeOf(b) - timeOf(a))
  const shown = slowest.slice(0, TAGS)
  const extra = slowest.find(({ tag_key }) => tag_key === picked)
  const tags = extra === undefined || shown.includes(extra) ? shown : [...shown.slice(1), extra]
  const rows: LegendRow[] = tags.map((tag) => ({
    key: tag.tag_key,
    name: tag.tag_key,
    value: figure(tag.p95_ms ?? tag.avg_ms, 'ms'),
    reference: report.previous && change(tag.p95_ms, before.get(tag.tag_key)?.p95_ms, 'ms'),
    title: tag.p95_ms === null ? 'on average' : '95 % of its executions took this long at most',
  }))
  const all: LegendRow = { key: ALL, name: 'All tags', value: '' }
  const isMean = shown.every(({ p95_ms }) => p95_ms === null)
  return (
    <Legend
      label="Whose execution times"
      heading={isMean ? 'average' : 'p95'}
      rows={[all, ...rows]}
      picked={picked}
      onPick={view.setTimedTag}
    />
  )
}

const timeOf = ({ p95_ms, avg_ms }: { p95_ms: number | null; avg_ms: number | null }): number => p95_ms ?? avg_ms ?? -1

function Percentiles({ tag }: { tag: string }) {
  const { report } = useSite()
  const now = report.tags.find(({ tag_key }) => tag_key === tag)
  const before = report.previous?.tags.find(({ tag_key }) => tag_key === tag)
  const rows = (['p50_ms', 'p95_ms', 'p99_ms', 'avg_ms'] as const).map((key) => ({
    key,
    name: { p50_ms: 'p50, half of them', p95_ms: 'p95', p99_ms: 'p99', avg_ms: 'average' }[key],
    value: figure(now?.[key] ?? null, 'ms'),
    reference: change(now?.[key] ?? null, before?.[key], 'ms'),
  }))
  return <Legend label="Percentiles of the window" rows={rows} />
}
