import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Cut, timeseriesQuery } from '../../api/analytics.ts'
import { dottedNote } from '../../ui/chart/points.ts'
import { TimeChart } from '../../ui/chart/TimeChart.tsx'
import type { TimeChartData } from '../../ui/chart/time-chart-data.ts'
import { Awaited } from '../../ui/States.tsx'
import { later } from './columns.ts'
import { Note, Panel, type PanelProps } from './Panel.tsx'
import { NO_WINDOW, useSite } from './site-scope.ts'

interface Props
  extends Omit<PanelProps, 'isStale' | 'children'>,
    Required<Pick<TimeChartData, 'kind' | 'format'>>,
    Pick<TimeChartData, 'scale'>,
    Pick<Parameters<typeof TimeChart>[0], 'label' | 'onClick'> {
  /** Where the series come from. */
  answer: Pick<UseQueryResult, 'error' | 'refetch' | 'isPlaceholderData'>
  /** Undefined until they are there. */
  series: TimeChartData['series'] | undefined
  height: number
  /** The first chart of the page names the versions that were deployed; the others show lines only. */
  isFirst?: boolean
  /** The time of the chart, epoch ms, where it is not the window of the page. */
  over?: { from: number; to: number } | undefined
  /** Takes the place of the chart: why there is nothing to draw. */
  note?: string | undefined
}

/** A chart over the window of the page, with its title and its numbers; until its series are there, their skeleton or fault. */
export function ChartPanel(props: Props) {
  const { answer, series, kind, scale, format, label, onClick, height, isFirst = false, over, note, ...panel } = props
  const { frame, deploys } = useSite()
  // Another time shares neither the crosshair nor the marks.
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

/** What a chart of the window draws, and, moved under it, the same of the window before where the two are compared. */
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
