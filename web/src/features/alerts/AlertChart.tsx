import { Button, Skeleton, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useCallback, useId, useMemo } from 'react'
import type { AlertDetail, AlertRecord } from '../../api/alerts.ts'
import { timeseriesQuery } from '../../api/analytics.ts'
import { expectationQuery, type ResultRecord } from '../../api/probes.ts'
import { useNow } from '../../lib/external.ts'
import { compact } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { withHourlyBand } from '../../ui/chart/hourly-band.ts'
import type { AlertSpan } from '../../ui/chart/points.ts'
import { dottedNote } from '../../ui/chart/points.ts'
import { useSpanZoom } from '../../ui/chart/select-span.ts'
import { Chart, TimeChart } from '../../ui/chart/TimeChart.tsx'
import { timeOption } from '../../ui/chart/time-option.ts'
import { Awaited, ErrorState } from '../../ui/States.tsx'
import { passingHours, usualSeries } from '../probes/expectation.ts'
import { useChangeMarks } from '../site/changes.ts'
import { alertSpans } from '../site/marks.ts'
import { milliseconds } from '../site/words.ts'
import { type Band, type ChartWindow, chartWindow, withBand, zoomedWindow } from './band-option.ts'
import { type ChartPlan, chartPlan, findingIn, judgedMinutes } from './chart-plan.ts'
import classes from './detail.module.css'
import { useResults } from './use-live-alerts.ts'
import { sentence } from './words.ts'

interface AlertChartProps {
  alert: AlertDetail
  /** Alerts of the same probe. */
  others: readonly AlertRecord[]
  zone: string | undefined
  /** The name of its site, when charts of several sites are shown together. */
  place?: string | undefined
}

const HEIGHT = 280
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** Longest and oldest time with a band, days: one answer covers no more, and the expectation says little about older days. */
const BAND_DAYS = 7

/** A chart of the figures that caused the alert, from before it began. */
export function AlertChart(props: AlertChartProps) {
  const { subject, details, probe_type, since, resolved_at } = props.alert
  const now = useNow()
  const finding = useMemo(() => (subject === 'check' ? null : findingIn(details)), [subject, details])
  const ended = resolved_at === null ? null : Date.parse(resolved_at)
  const judged = judgedMinutes(probe_type, finding, now - Date.parse(since))
  const whole = chartWindow(Date.parse(since), ended, now, judged)
  const zoom = useSpanZoom()
  const window = zoom.span === null ? whole : zoomedWindow(whole, zoom.span, judged)
  const plan = useMemo(
    () => (finding === null ? null : chartPlan(probe_type, finding, window.bucketMinutes)),
    [finding, probe_type, window.bucketMinutes],
  )
  if (plan === null) return <ResultsChart {...props} zoom={zoom} />
  return <DataChart {...props} plan={plan} window={window} zoom={zoom} />
}

function DataChart({
  alert,
  others,
  zone = ownZone(),
  place,
  plan,
  window,
  zoom,
}: AlertChartProps & Zoomed & { plan: ChartPlan; window: ChartWindow }) {
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
  const hours = useHourlyBand(alert, plan, window)
  const isComplete = answers.length === plan.cuts.length
  const series = useMemo(() => (isComplete ? plan.draw(answers) : []), [isComplete, plan, answers])
  const spans = useMemo(() => badSpans(alert, others, from, to), [alert, others, from, to])
  const deploys = useChangeMarks(alert.site_id, from, to)
  const dotted = useMemo(
    () => (plan.kind === 'lines' ? dottedNote(series, from, to) : undefined),
    [plan.kind, series, from, to],
  )
  const usual = hours === undefined ? undefined : 'dashed: what is usual'
  const notes = ['green: what passes', 'red or amber: while it was bad', usual, dotted]
  const since = Date.parse(alert.since)
  const ended = alert.resolved_at === null ? null : Date.parse(alert.resolved_at)
  const option = useCallback(
    (colors: ChartColors) => {
      const { format = compact, expected, most } = plan
      // An expectation that depends on the hour of the week holds for the time judged, not for the hours before.
      const during = plan.kind === 'bars' ? { from: since, to: ended ?? to } : null
      const band: Band = { ...plan.band, expected, during, format, ...(most !== undefined && { most }) }
      const data = { series, kind: plan.kind, from, to, zone, format, alerts: spans, deploys }
      if (hours === undefined) return withBand(timeOption(data, colors), band, colors)
      const withUsual = { ...data, series: [...series, usualSeries(hours)] }
      return withHourlyBand(timeOption(withUsual, colors), hours, colors)
    },
    [since, ended, plan, series, hours, from, to, zone, spans, deploys],
  )
  return (
    <Panel
      title={titled(plan.title, place)}
      note={notes.filter((part) => part !== undefined).join(' · ')}
      action={<ShowAll {...zoom} />}
    >
      {series.length > 0 ? (
        <Chart
          option={option}
          height={HEIGHT}
          label={`${plan.title}. ${sentence(alert.message)}`}
          selection={zoom.selection}
        />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={retry} />
      ) : isComplete ? (
        <Text c="dimmed" size="sm">
          The figures of this time are no longer kept.
        </Text>
      ) : (
        <Skeleton height={HEIGHT} radius="md" />
      )}
    </Panel>
  )
}

/**
 * The band of each hour for an hourly chart, as the probe knew it when the alert opened: later it has learned from the fault itself.
 * Undefined when the probe has none.
 */
function useHourlyBand(alert: AlertDetail, { event_name }: ChartPlan, { from, to, bucket }: ChartWindow) {
  const now = useNow()
  const isKnown =
    alert.probe_type === 'data_volume' && bucket === '1h' && to - from <= BAND_DAYS * DAY && now - to < BAND_DAYS * DAY
  const asked = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), as_of: alert.opened_at }
  const { data } = useQuery({
    ...expectationQuery(alert.probe_id, { ...asked, ...(event_name !== undefined && { event_name }) }),
    enabled: isKnown,
  })
  return useMemo(() => {
    const hours = data === undefined ? [] : passingHours(data)
    return hours.some(({ expected }) => expected !== null) ? hours : undefined
  }, [data])
}

const BEFORE = DAY

/** A chart of the target's response times, for probes that ask over the network. */
function ResultsChart({ alert, others, zone, place, zoom }: AlertChartProps & Zoomed) {
  const now = Math.ceil(useNow() / MINUTE) * MINUTE
  const { data: results, error, refetch } = useResults(alert.probe_id)
  const timed = useMemo(() => answered(results ?? [], Date.parse(alert.since) - BEFORE), [results, alert.since])
  const first = timed[0]
  const from = first === undefined ? now : Date.parse(first.t)
  const series = useMemo(
    () => [{ key: 'Response time', token: '--series-1', areInstants: true, points: timed }],
    [timed],
  )
  const spans = useMemo(() => badSpans(alert, others, from, now), [alert, others, from, now])
  const deploys = useChangeMarks(alert.site_id, from, now, first !== undefined)
  return (
    <Panel title={titled('Response time', place)} note="red or amber: while it was bad" action={<ShowAll {...zoom} />}>
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
          from={Math.max(from, zoom.span?.from ?? from)}
          to={Math.min(now, zoom.span?.to ?? now)}
          selection={zoom.selection}
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

/** Response times since a time, oldest first; a result without an answer is a gap. */
const answered = (results: readonly ResultRecord[], since: number) => {
  const recent = results.filter(({ executed_at }) => Date.parse(executed_at) >= since).toReversed()
  return recent.some(({ response_time_ms }) => response_time_ms !== null)
    ? recent.map(({ executed_at, response_time_ms }) => ({ t: executed_at, value: response_time_ms }))
    : []
}

const titled = (title: string, place: string | undefined): string =>
  place === undefined ? title : `${place}: ${title}`

interface Zoomed {
  zoom: ReturnType<typeof useSpanZoom>
}

/** A button that resets the zoom, for those who do not know the keys. */
function ShowAll({ span, reset }: Zoomed['zoom']) {
  if (span === null) return null
  return (
    <Button size="compact-xs" variant="default" onClick={reset}>
      Show all
    </Button>
  )
}

interface PanelProps {
  title: string
  /** A few words beside the title. */
  note?: string
  /** Whether a phone shows it after the others. */
  isLater?: boolean
  /** Whether it is left out when printing. */
  isForScreen?: boolean
  /** For links to it: `#cost`. */
  anchor?: string
  /** Shown at the end of its header. */
  action?: ReactNode
  children: ReactNode
}

/** A part of the page with its heading. */
export function Panel({ title, note, isLater = false, isForScreen = false, anchor, action, children }: PanelProps) {
  const id = useId()
  return (
    <section
      id={anchor}
      className={isLater ? `${classes.panel} ${classes.later}` : classes.panel}
      data-print={isForScreen ? 'no' : undefined}
      aria-labelledby={id}
    >
      <header className={classes.panelHead}>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span className={classes.note}>{note}</span>}
        {action}
      </header>
      {children}
    </section>
  )
}

/** The spans of this alert and the others, epoch ms. */
const badSpans = (alert: AlertDetail, others: readonly AlertRecord[], from: number, to: number): AlertSpan[] =>
  alertSpans([alert, ...others], from, to)
