import { useCallback, useMemo } from 'react'
import { counted, whole } from '../../lib/words.ts'
import type { ChartClick } from '../../ui/chart/ChartCanvas.tsx'
import type { TimeSeries } from '../../ui/chart/points.ts'
import { seriesTokens } from '../../ui/series-color.ts'
import { columnsOf, namedEvents, totalOf, withoutMany } from './columns.ts'
import { FIRST_CUT } from './expect-site.ts'
import { Legend } from './Legend.tsx'
import type { Stretch } from './marks.ts'
import { ChartPanel, useComparedSeries } from './Panel.tsx'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'
import { change, figure, span } from './words.ts'

const HEIGHT = 212
/** Maximum number of bars; more are too thin to point at. */
const BARS = 100
/** Maximum number of names, one per colour; the table under "Tags and events" has all of them. */
const NAMES = 8

/** Events by name over time. */
export function EventsPanel() {
  const { report, view, before: comparedWith } = useSite()
  const reference = comparedWith?.name
  const { answer, earlier } = useComparedSeries(FIRST_CUT)
  const { data } = answer
  const columns = useMemo(() => {
    if (data === undefined) return undefined
    const { width, series } = columnsOf(withoutMany(data.series, NAMES), data.bucket_seconds, BARS)
    if (earlier === undefined || reference === undefined) return { width, series }
    const before = columnsOf([totalOf(earlier, reference)], data.bucket_seconds, BARS).series
    return { width, series: [...series, ...before.map((each) => ({ ...each, isReference: true }))] }
  }, [data, earlier, reference])
  const { setFocus } = view
  const pick = useCallback((name: string, picked?: Stretch) => setFocus({ kind: 'event', name }, picked), [setFocus])
  const onClick = useCallback(
    ({ series, index }: ChartClick) => {
      const clicked = columns?.series.find(({ key }) => key === series)
      if (clicked === undefined || columns === undefined || !isEvent(clicked)) return
      const from = Date.parse(columns.series[0]?.points[index]?.t ?? '')
      pick(series, Number.isNaN(from) ? undefined : { from, to: from + columns.width })
    },
    [pick, columns],
  )
  const tokens = useMemo(() => seriesTokens(columns?.series.filter(isEvent).map(({ key }) => key) ?? []), [columns])
  const names = new Set(
    namedEvents(
      report.events.map(({ event_name }) => event_name),
      NAMES,
    ),
  )
  const named = report.events.filter(({ event_name }) => names.has(event_name))
  const beforeOf = new Map(report.previous?.events.map(({ event_name, total }) => [event_name, total]))
  return (
    <ChartPanel
      title="Events"
      unit={columns === undefined ? undefined : `by name, per ${span(columns.width)}`}
      tools={<MarksKey />}
      answer={answer}
      series={columns?.series}
      kind="bars"
      height={HEIGHT}
      format={whole}
      label={`Events by name over time, ${whole(report.total_events)} in all`}
      onClick={onClick}
      isFirst
      side={
        <Legend
          label="Events by name"
          onPick={pick}
          rows={named.map(({ event_name, total }) => ({
            key: event_name,
            name: event_name,
            token: tokens.get(event_name) ?? '--series-other',
            value: figure(total, 'count'),
            title: `${counted(total, 'event')}: look at ${event_name}`,
            reference: report.previous && change(total, beforeOf.get(event_name) ?? 0, 'count'),
          }))}
        />
      }
    />
  )
}

/** Whether it is not the sum of the others, nor the compared total. */
const isEvent = ({ token, isReference }: Pick<TimeSeries, 'token' | 'isReference'>): boolean =>
  token === undefined && isReference !== true

/** The key of the marks that run through all charts. */
function MarksKey() {
  const { frame, deploys } = useSite()
  const words = [
    ...(deploys.length > 0 ? ['dotted: something changed'] : []),
    ...(frame.alerts.length > 0 ? ['shaded: an alert was open'] : []),
  ]
  return <span className={classes.key}>{words.join(' · ')}</span>
}
