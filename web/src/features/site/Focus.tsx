import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, CalendarX, Tag, X } from 'lucide-react'
import { type ReactNode, useCallback, useMemo } from 'react'
import { matrixQuery } from '../../api/analytics.ts'
import { whole } from '../../lib/words.ts'
import { bucketText } from '../../ui/chart/bucket-text.ts'
import type { TimeSeries } from '../../ui/chart/points.ts'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { columnsOf } from './columns.ts'
import { HeatPanel } from './HeatPanel.tsx'
import { badOf, matrixRows, shareOf } from './heat.ts'
import { LatencyPanel } from './LatencyPanel.tsx'
import { Legend, type LegendRow } from './Legend.tsx'
import type { Stretch } from './marks.ts'
import { ChartsSkeleton } from './NoData.tsx'
import { OutcomesPanel } from './OutcomesPanel.tsx'
import { ChartPanel, Note, Panel, useComparedSeries } from './Panel.tsx'
import { Figure, Figures } from './SiteFigures.tsx'
import classes from './site.module.css'
import { NO_WINDOW, useSite } from './site-scope.ts'
import { TagVendor } from './TagVendor.tsx'
import { EVENT_TAG_COLUMNS, TAG_EVENT_COLUMNS } from './table-columns.tsx'
import { useTagReport } from './use-site-report.ts'
import { span } from './words.ts'

const ROWS = 12

/** One tag: its outcomes, its events, and its execution times. */
export function TagFocus({ name }: { name: string }) {
  const { site, view } = useSite()
  const { answer, was } = useTagReport(name)
  const { data, error, refetch } = answer
  const { setFocus } = view
  const pick = useCallback(
    (event: string, picked?: Stretch) =>
      setFocus(picked === undefined ? { kind: 'event', name: event } : { kind: 'pair', tag: name, event }, picked),
    [setFocus, name],
  )
  if (data === undefined) {
    return error === null ? <ChartsSkeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (data === null) {
    return (
      <div className={classes.charts}>
        <FocusBar kind="Tag" name={name} />
        <EmptyState icon={Tag} title="This tag did not run in this period">
          Choose a longer period, or another tag. A tag that stopped on an event is found by the probe "tag_missing".
        </EmptyState>
      </div>
    )
  }
  const rows = matrixRows(
    { cells: data.events.map((each) => ({ ...each, tag_key: data.tag_key, bad: badOf(each) })) },
    { tag_key: data.tag_key },
  )
  return (
    <div className={classes.charts}>
      <FocusBar kind="Tag" name={data.tag_key} />
      <TagVendor siteId={site.id} tag={data} />
      <Figures label={`${data.tag_key} in numbers`}>
        <Figure name="Executions" value={data.executions} kind="count" before={was?.executions} />
        <Figure
          name="Failure rate"
          value={shareOf(badOf(data), data.executions)}
          kind="rate"
          before={was && shareOf(badOf(was), was.executions)}
        />
        <Figure name="Average" value={data.avg_ms} kind="ms" before={was?.avg_ms} />
        <Figure name="p50" value={data.p50_ms} kind="ms" before={was?.p50_ms} />
        <Figure name="p95" value={data.p95_ms} kind="ms" before={was?.p95_ms} />
        <Figure name="p99" value={data.p99_ms} kind="ms" before={was?.p99_ms} />
      </Figures>
      <OutcomesPanel of={{ tag_key: data.tag_key }} now={data} before={was} />
      {rows.length > 0 && (
        <HeatPanel
          title={`${data.tag_key} by event`}
          group="event_name"
          of={{ tag_key: data.tag_key }}
          rows={rows.slice(0, ROWS)}
          onPick={pick}
        />
      )}
      <LatencyPanel tag={data.tag_key} />
      {rows.length > 0 && (
        <DataTable
          label={`Events on which ${data.tag_key} ran`}
          columns={TAG_EVENT_COLUMNS}
          rows={data.events}
          keyOf={(row) => row.event_name}
          initialSort={{ key: 'share', isDescending: true }}
          onOpen={(row) => pick(row.event_name)}
        />
      )}
    </div>
  )
}

const HEIGHT = 188
const BARS = 100
/** One event: its counts, and the outcomes of the tags on it. */
export function EventFocus({ name }: { name: string }) {
  const { site, query, report, before, view } = useSite()
  const { data, error, refetch } = useQuery(matrixQuery(site.id, query))
  const earlier = useQuery({ ...matrixQuery(site.id, before?.query ?? NO_WINDOW), enabled: before !== null })
  const { setFocus } = view
  const pick = useCallback(
    (tag: string, picked?: Stretch) =>
      setFocus(picked === undefined ? { kind: 'tag', name: tag } : { kind: 'pair', tag, event: name }, picked),
    [setFocus, name],
  )
  const of = useMemo(() => ({ event_name: name }), [name])
  if (data === undefined) {
    return error === null ? <ChartsSkeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  const total = report.events.find(({ event_name }) => event_name === name)?.total ?? 0
  const rows = matrixRows(data, of)
  if (total === 0 && rows.length === 0) {
    return (
      <div className={classes.charts}>
        <FocusBar kind="Event" name={name} />
        <EmptyState icon={CalendarX} title="This event did not come in this period">
          Choose a longer period, or another event.
        </EmptyState>
      </div>
    )
  }
  const was = before === null || earlier.data === undefined ? undefined : matrixRows(earlier.data, of)
  const sum = (list: typeof rows, key: 'executions' | 'bad') => list.reduce((all, row) => all + row[key], 0)
  return (
    <div className={classes.charts}>
      <FocusBar kind="Event" name={name} />
      <Figures label={`${name} in numbers`}>
        <Figure
          name="Events"
          value={total}
          kind="count"
          before={report.previous && (report.previous.events.find(({ event_name }) => event_name === name)?.total ?? 0)}
        />
        <Figure name="Share of all events" value={shareOf(total, report.total_events)} kind="rate" />
        <Figure name="Tags on it" value={rows.length} kind="count" before={was?.length} />
        <Figure name="Executions" value={sum(rows, 'executions')} kind="count" before={was && sum(was, 'executions')} />
        <Figure
          name="Failure rate"
          value={shareOf(sum(rows, 'bad'), sum(rows, 'executions'))}
          kind="rate"
          before={was && shareOf(sum(was, 'bad'), sum(was, 'executions'))}
        />
      </Figures>
      <Counts name={name} />
      {rows.length === 0 ? (
        <Panel title={`Tags on ${name}`}>
          <Note height={120}>
            Which tags ran on an event is known from requests per event only: batches count tags over all their events.
          </Note>
        </Panel>
      ) : (
        <>
          <HeatPanel title={`Tags on ${name}`} group="tag_key" of={of} rows={rows.slice(0, ROWS)} onPick={pick} />
          <DataTable
            label={`Tags that ran on ${name}`}
            columns={EVENT_TAG_COLUMNS}
            rows={rows}
            keyOf={(row) => row.name}
            initialSort={{ key: 'share', isDescending: true }}
            onOpen={(row) => pick(row.name)}
          />
        </>
      )}
    </div>
  )
}

function Counts({ name }: { name: string }) {
  const reference = useSite().before?.name
  const { answer, earlier } = useComparedSeries({ metric: 'events', event_name: name })
  const { data } = answer
  const columns = useMemo(() => {
    if (data === undefined) return undefined
    const named = data.series.map((each) => ({ ...each, key: name }))
    const { width, series } = columnsOf(named, data.bucket_seconds, BARS)
    if (earlier === undefined || reference === undefined) return { width, series }
    const before = earlier.map((each) => ({ ...each, key: reference, isReference: true }))
    return { width, series: [...series, ...columnsOf(before, data.bucket_seconds, BARS).series] }
  }, [data, earlier, name, reference])
  return (
    <ChartPanel
      title="Events"
      unit={columns === undefined ? undefined : `per ${span(columns.width)}`}
      answer={answer}
      series={columns?.series}
      kind="bars"
      height={HEIGHT}
      format={whole}
      label={`${name} over time`}
      isFirst
      side={columns !== undefined && <Legend label="In numbers" rows={extremes(columns)} />}
    />
  )
}

/** Maximum, minimum and median of the columns that lie completely in the window. */
function extremes({ series }: { series: readonly TimeSeries[] }): LegendRow[] {
  const counts = series[0]?.points.slice(1, -1).map(({ value }) => value ?? 0) ?? []
  if (counts.length === 0) return []
  const sum = counts.reduce((all, count) => all + count, 0)
  const rows = [
    ['at most', Math.max(...counts)],
    ['on average', sum / counts.length],
    ['at least', Math.min(...counts)],
  ] as const
  return rows.map(([name, value]) => ({ key: name, name, value: whole(value) }))
}

/** The focused tag or event, and a link back to the whole site. */
export function FocusBar({ kind, name }: { kind: string; name: ReactNode }) {
  const { site, view } = useSite()
  const { picked } = view
  return (
    <div className={classes.focus}>
      <Button variant="default" leftSection={<ArrowLeft size={16} aria-hidden />} onClick={() => view.setFocus(null)}>
        Whole site
      </Button>
      <h2>
        <span className={classes.muted}>{kind}</span> {name}
      </h2>
      {picked !== null && (
        <Button
          variant="default"
          size="compact-sm"
          rightSection={<X size={14} aria-hidden />}
          title="Forget this time"
          onClick={view.clearPicked}
        >
          {bucketText({ start: picked.from, end: picked.to, isPartial: false }, site.timezone)}
        </Button>
      )}
    </div>
  )
}
