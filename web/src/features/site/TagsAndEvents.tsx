import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { matrixQuery } from '../../api/analytics.ts'
import { percent, whole } from '../../lib/words.ts'
import { Awaited } from '../../ui/States.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { heatLevel, shareOf } from './heat.ts'
import classes from './MatrixPanel.module.css'
import { Note, Panel } from './Panel.tsx'
import page from './site.module.css'
import { useSite } from './site-scope.ts'
import { EVENT_COLUMNS, TAG_COLUMNS } from './table-columns.tsx'

/** All tags and events with their numbers, and a matrix of which tag ran on which event. */
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
    <div className={page.charts}>
      <section className={page.tableSection}>
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
      <section className={page.tableSection}>
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

/** Maximum numbers of events and tags in the matrix; no one reads hundreds of names. */
const EVENTS = 40
const TAGS = 25
const HEIGHT = 240
const TITLE = 'Tags by event'
/** Share of red in the reddest background, per cent, on which text is still readable. */
const REDDEST = 58

/** Event × tag: how often a tag ran on an event, and the share that failed. */
function MatrixPanel() {
  const { site, query, view } = useSite()
  const { data: answer, error, refetch, isPlaceholderData } = useQuery(matrixQuery(site.id, query))
  // Deferred, so that clicks are answered while a thousand cells are drawn.
  const data = useDeferredValue(answer)
  const cells = useMemo(() => new Map(data?.cells.map((cell) => [`${cell.event_name}\n${cell.tag_key}`, cell])), [data])
  if (data === undefined) {
    return (
      <Panel title={TITLE}>
        <Awaited error={error} onRetry={() => void refetch()} height={HEIGHT} />
      </Panel>
    )
  }
  const events = data.events.slice(0, EVENTS)
  const tags = data.tags.slice(0, TAGS)
  const left = data.events.length - events.length + data.tags.length - tags.length
  return (
    <Panel
      title={TITLE}
      unit={`share of failed executions, whole hours${left > 0 ? `; ${left === 1 ? 'the smallest is' : `the ${left} smallest are`} not shown` : ''}`}
      isStale={isPlaceholderData}
    >
      {events.length === 0 ? (
        <Note height={120}>
          Which tag ran on which event is known from requests per event only: batches count tags over all their events.
        </Note>
      ) : (
        <div className={classes.scroll}>
          <table className={classes.matrix}>
            <thead>
              <tr>
                <th scope="col">Event</th>
                {tags.map((tag) => (
                  <th key={tag} scope="col">
                    <UnstyledButton className={classes.name} onClick={() => view.setFocus({ kind: 'tag', name: tag })}>
                      {tag}
                    </UnstyledButton>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {events.map((event) => (
                <tr key={event}>
                  <th scope="row">
                    <UnstyledButton
                      className={classes.name}
                      onClick={() => view.setFocus({ kind: 'event', name: event })}
                    >
                      {event}
                    </UnstyledButton>
                  </th>
                  {tags.map((tag) => (
                    <Cell
                      key={tag}
                      cell={cells.get(`${event}\n${tag}`)}
                      title={`Look at ${tag} on ${event}`}
                      onPick={() => view.setFocus({ kind: 'pair', tag, event })}
                    />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}

interface CellProps {
  cell: { executions: number; bad: number } | undefined
  title: string
  onPick: () => void
}

function Cell({ cell, title, onPick }: CellProps) {
  if (cell === undefined || cell.executions === 0) {
    return (
      <td className={classes.none}>
        <span className="sr-only">did not run</span>
      </td>
    )
  }
  const share = cell.bad / cell.executions
  const red = Math.round(heatLevel(share) * REDDEST)
  return (
    <td style={{ background: `color-mix(in srgb, var(--critical) ${red}%, var(--surface))` }}>
      {/* A plain button: a thousand of Mantine's took as long to draw as the rest of the page. */}
      <button type="button" className={classes.cell} title={title} onClick={onPick}>
        <b>{percent(share)}</b>
        <span>of {whole(cell.executions)}</span>
      </button>
    </td>
  )
}
