import { useQuery } from '@tanstack/react-query'
import type { EChartsCoreOption } from 'echarts/core'
import { useCallback, useMemo } from 'react'
import { type Score, timeseriesQuery, type WindowReport } from '../../api/analytics.ts'
import { compact, percent } from '../../lib/words.ts'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { Chart } from '../../ui/chart/TimeChart.tsx'
import { type TimeChartData, timeOption } from '../../ui/chart/time-option.ts'
import { Awaited } from '../../ui/States.tsx'
import { seriesTokens } from '../../ui/series-color.ts'
import { calmBucket } from './columns.ts'
import { Legend } from './Legend.tsx'
import { Note, Panel } from './Panel.tsx'
import { useSite } from './site-scope.ts'
import { change, fieldName, figure } from './words.ts'

const HEIGHT = 160

const WORDS = {
  user_data: {
    title: 'User data',
    missing: 'No event reported user data in this time. It raises the match rate of Meta, Google and TikTok.',
  },
  ecommerce: {
    title: 'E-commerce data',
    missing: 'No event reported e-commerce data in this time. A shop reports it with its purchases.',
  },
}

/** How many of the events that could carry a field did, over time, with the targets of the score. */
export function QualityPanel({ part }: { part: Part }) {
  const { site, query, frame, report } = useSite()
  const bucket = calmBucket(frame.to - frame.from)
  const { data, error, refetch, isPlaceholderData } = useQuery(
    timeseriesQuery(site.id, query, { metric: part, group_by: 'field', bucket }),
  )
  const fields = useMemo(() => fieldsOf(report, part), [report, part])
  const earlier = new Map(report.previous && fieldsOf(report.previous, part).map(({ field, rate }) => [field, rate]))
  const targets = useMemo(
    () =>
      Object.fromEntries(
        fields.flatMap(({ field, target }) => (target === undefined ? [] : [[fieldName(field), target]])),
      ),
    [fields],
  )
  const series = useMemo(
    () => data?.series.map((each) => ({ ...each, key: fieldName(each.key) })).filter(({ key }) => key in targets),
    [data, targets],
  )
  const tokens = useMemo(() => seriesTokens(Object.keys(targets)), [targets])
  const option = useCallback(
    (colors: ChartColors) =>
      qualityOption({ ...frame, series: series ?? [], kind: 'lines', format: percent }, targets, colors),
    [frame, series, targets],
  )
  const { title, missing } = WORDS[part]
  // Batches do not carry all fields: those that are not asked for are left out then.
  const known = fields.filter(({ rate, target }) => rate !== null || target !== undefined)
  const total = report[part].total
  return (
    <Panel
      title={title}
      unit={total > 0 ? `present in ${compact(total)} events that can carry it; dashed: target` : undefined}
      isStale={isPlaceholderData}
      side={
        <Legend
          label={title}
          rows={known.map(({ field, rate, target }) => ({
            key: field,
            name: fieldName(field),
            token: tokens.get(fieldName(field)),
            value: figure(rate, 'rate'),
            reference:
              change(rate, earlier.get(field), 'rate') ??
              (target === undefined ? undefined : `target ${percent(target)}`),
          }))}
        />
      }
    >
      {total === 0 ? (
        <Note height={HEIGHT}>{missing}</Note>
      ) : series === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={HEIGHT} />
      ) : (
        <Chart
          option={option}
          height={HEIGHT}
          label={labelOf(title, known)}
          group={frame.group}
          selection={frame.selection}
        />
      )}
    </Panel>
  )
}

const labelOf = (title: string, fields: ReturnType<typeof fieldsOf>): string =>
  `${title} over time: ${fields.map(({ field, rate }) => `${fieldName(field)} ${figure(rate, 'rate')}`).join(', ')}`

/** Lines of shares, each with its target as a dashed line of its own colour. */
function qualityOption(
  data: TimeChartData & { zone: string },
  targets: Readonly<Record<string, number>>,
  colors: ChartColors,
): EChartsCoreOption {
  const base = timeOption(data, colors)
  const drawn = new Set<string>()
  const series = (base.series as { name?: string; color?: string }[]).map((each) => {
    const target = each.name === undefined ? undefined : targets[each.name]
    // A line has two strokes of one name.
    if (target === undefined || each.name === undefined || drawn.has(each.name)) return each
    drawn.add(each.name)
    return {
      ...each,
      markLine: {
        silent: true,
        symbol: 'none',
        animation: false,
        label: { show: false },
        lineStyle: { color: each.color, type: 'dashed', width: 1, opacity: 0.7 },
        data: [{ yAxis: target }],
      },
    }
  })
  return { ...base, yAxis: { ...(base.yAxis as object), min: 0, max: 1, interval: 0.25 }, series }
}

export type Part = 'user_data' | 'ecommerce'

interface Field {
  field: string
  rate: number | null
  /** 0–1; undefined: it is no part of the score. */
  target?: number
  weight?: number
}

/** The fields of a part: those that count with what the score is made of, then the others as they were reported. */
export function fieldsOf(report: Pick<WindowReport, 'user_data' | 'ecommerce' | 'score'>, part: Part): Field[] {
  const { weight: _, ...inputs } = report.score.inputs[part] as Score['inputs']['user_data']
  const counting = Object.entries(inputs).map(([field, { rate, target, weight }]) => ({ field, rate, target, weight }))
  const { total: __, ...presence } = report[part]
  const others = Object.entries(presence as Record<string, { rate: number | null }>)
    .filter(([field]) => !(field in inputs))
    .map(([field, { rate }]) => ({ field, rate }))
  return [...counting, ...others]
}
