import { useMemo } from 'react'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { shareOf } from './heat.ts'
import { MatrixPanel } from './MatrixPanel.tsx'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'
import { EVENT_COLUMNS, TAG_COLUMNS } from './table-columns.tsx'

/** Every tag and every event with its numbers, and which tag ran on which event. */
export function TagsAndEvents() {
  const { report, view } = useSite()
  const { previous } = report
  const tags = useMemo(() => {
    const earlier = new Map(previous?.tags.map((tag) => [tag.tag_key, tag]))
    return report.tags.map((now) => ({
      now,
      before: previous === undefined ? undefined : (earlier.get(now.tag_key) ?? null),
    }))
  }, [report.tags, previous])
  const events = useMemo(() => {
    const earlier = new Map(previous?.events.map(({ event_name, total }) => [event_name, total]))
    return report.events.map(({ event_name, total }) => ({
      event_name,
      total,
      share: shareOf(total, report.total_events),
      before: previous === undefined ? undefined : (earlier.get(event_name) ?? 0),
    }))
  }, [report, previous])
  return (
    <div className={classes.charts}>
      <section className={classes.tableSection}>
        <h2>Tags</h2>
        <DataTable
          label="Tags"
          columns={TAG_COLUMNS}
          rows={tags}
          keyOf={({ now }) => now.tag_key}
          initialSort={{ key: 'share', isDescending: true }}
          onOpen={({ now }) => view.setFocus({ kind: 'tag', name: now.tag_key })}
        />
      </section>
      <MatrixPanel />
      <section className={classes.tableSection}>
        <h2>Events</h2>
        <DataTable
          label="Events"
          columns={EVENT_COLUMNS}
          rows={events}
          keyOf={({ event_name }) => event_name}
          initialSort={{ key: 'total', isDescending: true }}
          onOpen={({ event_name }) => view.setFocus({ kind: 'event', name: event_name })}
        />
      </section>
    </div>
  )
}
