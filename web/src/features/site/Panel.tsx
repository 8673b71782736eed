import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type ReactNode, useId, useMemo } from 'react'
import { type Cut, timeseriesQuery } from '../../api/analytics.ts'
import { dottedNote, type TimeChartData } from '../../ui/chart/points.ts'
import { TimeChart } from '../../ui/chart/TimeChart.tsx'
import { Awaited } from '../../ui/States.tsx'
import { later } from './columns.ts'
import classes from './Panel.module.css'
import { NO_WINDOW, useSite } from './site-scope.ts'

export interface PanelProps {
  title: string
  /** The unit of the numbers: "per 15 min". */
  unit?: string | undefined
  /** Shown to the right of the title. */
  tools?: ReactNode
  /** The list beside the chart: the names with their numbers. */
  side?: ReactNode
  /** Shown below both. */
  foot?: ReactNode
  /** Whether it is dimmed, because newer data is still loading. */
  isStale?: boolean
  children: ReactNode
}

/** A chart with its title and its numbers beside it. All charts of the page have the same left and right edge. */
export function Panel({ title, unit, tools, side, foot, isStale = false, children }: PanelProps) {
  const id = useId()
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <header className={classes.head}>
        <h2 id={id}>{title}</h2>
        {unit !== undefined && <span className={classes.unit}>{unit}</span>}
        {tools !== undefined && <div className={classes.tools}>{tools}</div>}
      </header>
      <div className={classes.body} data-stale={isStale || undefined} data-side={side !== undefined || undefined}>
        <div className={classes.chart}>{children}</div>
        {side !== undefined && <div className={classes.side}>{side}</div>}
      </div>
      {foot !== undefined && <div className={classes.foot}>{foot}</div>}
    </section>
  )
}

interface NoteProps {
  /** Height of the chart that it replaces, px. */
  height: number
  children: string
}

/** Says why a chart has nothing to draw, in its place. */
export function Note({ height, children }: NoteProps) {
  return (
    <p className={classes.note} style={{ minHeight: height }}>
      {children}
    </p>
  )
}

interface Props
  extends Omit<PanelProps, 'isStale' | 'children'>,
    Required<Pick<TimeChartData, 'kind' | 'format'>>,
    Pick<TimeChartData, 'scale'>,
    Pick<Parameters<typeof TimeChart>[0], 'label' | 'onClick'> {
  /** The query behind the series. */
  answer: Pick<UseQueryResult, 'error' | 'refetch' | 'isPlaceholderData'>
  /** Undefined until they are loaded. */
  series: TimeChartData['series'] | undefined
  height: number
  /** Only the first chart of the page names the deployed versions; the others show only lines. */
  isFirst?: boolean
  /** The chart's time, epoch ms, when it is not the page's window. */
  over?: { from: number; to: number } | undefined
  /** Shown instead of the chart: why there is nothing to draw. */
  note?: string | undefined
}

/** A chart over the page's window, with title and numbers; a skeleton or an error until its series are loaded. */
export function ChartPanel(props: Props) {
  const { answer, series, kind, scale, format, label, onClick, height, isFirst = false, over, note, ...panel } = props
  const { frame, deploys } = useSite()
  // A chart of another time does not share the crosshair and the marks.
  const shown = over === undefined ? frame : { ...over, zone: frame.zone }
  const { from, to } = shown
  const dotted = useMemo(
    () => (kind === 'lines' ? dottedNote(series ?? [], from, to) : undefined),
    [kind, series, from, to],
  )
  const unit = [panel.unit, dotted].filter((part) => part !== undefined).join('; ') || undefined
  return (
    <Panel {...panel} unit={unit} isStale={answer.isPlaceholderData}>
      {note !== undefined ? (
        <Note height={height}>{note}</Note>
      ) : series === undefined ? (
        <Awaited error={answer.error} onRetry={() => void answer.refetch()} height={height} />
      ) : (
        <TimeChart
          {...shown}
          {...(isFirst && { deploys })}
          series={series}
          kind={kind}
          {...(scale !== undefined && { scale })}
          height={height}
          format={format}
          label={label}
          {...(onClick !== undefined && { onClick })}
        />
      )}
    </Panel>
  )
}

/** The series of the window and, when comparing, those of the previous window, shifted to lie under it. */
export function useComparedSeries(cut: Cut) {
  const { site, query, before } = useSite()
  const answer = useQuery(timeseriesQuery(site.id, query, cut))
  const { data } = useQuery({
    ...timeseriesQuery(site.id, before?.query ?? NO_WINDOW, cut),
    enabled: before !== null,
  })
  const shift = before?.shift
  const earlier = useMemo(
    () => (shift === undefined || data === undefined ? undefined : later(data.series, shift)),
    [data, shift],
  )
  return { answer, earlier }
}
