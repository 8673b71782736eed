import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { type Cut, timeseriesQuery, type WindowReport } from '../../api/analytics.ts'
import { percent } from '../../lib/words.ts'
import { seriesTokens } from '../../ui/series-color.ts'
import { calmBucket } from './columns.ts'
import { Legend } from './Legend.tsx'
import { ChartPanel } from './Panel.tsx'
import { useSite } from './site-scope.ts'
import { change, figure } from './words.ts'

const HEIGHT = 160

/** One line of the chart. */
export interface Share {
  /** Key of its series. */
  key: string
  /** Its name for people. */
  name: string
  rateIn: (report: Pick<WindowReport, 'consent' | 'identifiers' | 'validity'>) => number | null
}

interface SharesPanelProps {
  title: string
  /** What the shares are of. */
  unit: string
  metric: Cut['metric']
  /** A stable list, because a new one redraws the chart. */
  shares: readonly Share[]
  scale: 'share' | 'rate'
  foot?: ReactNode
}

/** Shares of a site's events over time and in the whole window. */
export function SharesPanel({ title, unit, metric, shares, scale, foot }: SharesPanelProps) {
  const { site, query, frame, report } = useSite()
  const { previous } = report
  const answer = useQuery(
    timeseriesQuery(site.id, query, {
      metric,
      group_by: 'field',
      bucket: calmBucket(frame.to - frame.from),
      keys: shares.map(({ key }) => key),
    }),
  )
  const { data } = answer
  const tokens = useMemo(() => seriesTokens(shares.map(({ name }) => name)), [shares])
  const series = useMemo(
    () =>
      data &&
      shares.flatMap(({ key, name }) => {
        const found = data.series.find((each) => each.key === key)
        return found === undefined ? [] : [{ ...found, key: name }]
      }),
    [data, shares],
  )
  const rows = shares.map(({ name, rateIn }) => ({
    key: name,
    name,
    token: tokens.get(name),
    value: figure(rateIn(report), 'rate'),
    reference: change(rateIn(report), previous && rateIn(previous), 'rate'),
  }))
  return (
    <ChartPanel
      title={title}
      unit={unit}
      answer={answer}
      series={series}
      kind="lines"
      scale={scale}
      height={HEIGHT}
      format={percent}
      label={`${title} over time: ${rows.map(({ name, value }) => `${name} ${value}`).join(', ')}`}
      side={<Legend label={title} rows={rows} />}
      foot={foot}
    />
  )
}
