import { useQuery } from '@tanstack/react-query'
import { Tag } from 'lucide-react'
import { useCallback } from 'react'
import { tagQuery } from '../../api/analytics.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { Figure, Figures } from './Figures.tsx'
import { FocusBar } from './FocusBar.tsx'
import { HeatPanel } from './HeatPanel.tsx'
import { shareOf } from './heat.ts'
import { LatencyPanel } from './LatencyPanel.tsx'
import { OutcomesPanel } from './OutcomesPanel.tsx'
import { ChartsSkeleton } from './SiteSkeleton.tsx'
import classes from './site.module.css'
import { NO_WINDOW, useSite } from './site-scope.ts'
import type { Stretch } from './stretch.ts'
import { TAG_EVENT_COLUMNS } from './table-columns.tsx'
import { badOf, matrixRows } from './tags.ts'

const ROWS = 12

/** One tag: how it ended, on which events, and how long it took. */
export function TagFocus({ name }: { name: string }) {
  const { site, query, before, view } = useSite()
  const { data, error, refetch } = useQuery(tagQuery(site.id, query, name))
  const earlier = useQuery({ ...tagQuery(site.id, before?.query ?? NO_WINDOW, name), enabled: before !== null })
  const { setFocus } = view
  const pick = useCallback(
    (event: string, picked?: Stretch) => setFocus({ kind: 'event', name: event }, picked),
    [setFocus],
  )
  const was = before === null ? undefined : earlier.data
  if (data === undefined) {
    return error === null ? <ChartsSkeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (data === null) {
    return (
      <div className={classes.charts}>
        <FocusBar kind="Tag" name={name} />
        <EmptyState icon={Tag} title="This tag did not run in this time">
          Choose a longer time, or another tag. A tag that stopped on an event is found by the probe "tag_missing".
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
      <Figures label={`${data.tag_key} in numbers`}>
        <Figure name="Executions" value={data.executions} kind="count" before={was?.executions} />
        <Figure
          name="Failed"
          value={shareOf(badOf(data), data.executions)}
          kind="rate"
          before={was && shareOf(badOf(was), was.executions)}
        />
        <Figure name="Average" value={data.avg_ms} kind="ms" before={was?.avg_ms} />
        <Figure name="p50" value={data.p50_ms} kind="ms" before={was?.p50_ms} />
        <Figure name="p95" value={data.p95_ms} kind="ms" before={was?.p95_ms} />
        <Figure name="p99" value={data.p99_ms} kind="ms" before={was?.p99_ms} />
      </Figures>
      <OutcomesPanel tag={data.tag_key} />
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
