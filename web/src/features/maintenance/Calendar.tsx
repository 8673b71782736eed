import { ActionIcon, Button } from '@mantine/core'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useNow } from '../../lib/external.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { scopeName } from '../../ui/mute/scope.ts'
import { type Entry, stretchesIn, titleOf } from './entries.ts'
import classes from './maintenance.module.css'
import { addDays, dateAt, dateIn, type Stretch, WEEKDAYS, weekdayOf, weekFrom, windowWords } from './schedule.ts'

interface Props {
  entries: readonly Entry[]
  directory: Directory
  zone: string
}

/** A week from today on, with a line for each silence and maintenance that shows when it mutes. */
export function Calendar({ entries, directory, zone }: Props) {
  const now = useNow()
  const today = dateAt(now, zone)
  const [date, setDate] = useUrlState('from', '')
  const first = dateIn(date, today)
  const { days, to } = weekFrom(first, zone)
  const week = { from: days[0]?.from ?? now, to }
  const lines = entries
    .map((entry) => ({ entry, stretches: stretchesIn(entry, week) }))
    .filter(({ stretches }) => stretches.length > 0)
    .toSorted((a, b) => (a.stretches[0]?.from ?? 0) - (b.stretches[0]?.from ?? 0))
  return (
    <section className={classes.calendar} aria-label="Calendar">
      <header className={classes.calendarHead}>
        <h2>{weekWords(first)}</h2>
        <span className={classes.muted}>{zone}</span>
        <span className={classes.pager}>
          <ActionIcon variant="default" size={30} aria-label="7 days back" onClick={() => setDate(addDays(first, -7))}>
            <ChevronLeft size={16} aria-hidden />
          </ActionIcon>
          <Button size="compact-md" variant="default" onClick={() => setDate('')}>
            Today
          </Button>
          <ActionIcon variant="default" size={30} aria-label="7 days ahead" onClick={() => setDate(addDays(first, 7))}>
            <ChevronRight size={16} aria-hidden />
          </ActionIcon>
        </span>
      </header>
      <div className={classes.days} aria-hidden="true">
        {days.map((day) => (
          <span key={day.date} data-today={day.date === today || undefined}>
            {WEEKDAYS[weekdayOf(day.date) - 1]} {Number(day.date.slice(8))}
          </span>
        ))}
      </div>
      {lines.length === 0 ? (
        <p className={classes.nothing}>No silence or maintenance in these seven days.</p>
      ) : (
        <ul className={classes.lanes}>
          {lines.map(({ entry, stretches }) => (
            <li key={entry.record.id} className={classes.lane}>
              <span className={classes.laneName} title={titleOf(entry)}>
                {titleOf(entry)}
                <span className={classes.muted}> {scopeName(entry.record, directory)}</span>
              </span>
              <Track {...{ entry, stretches, week, now, zone }} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

interface TrackProps {
  entry: Entry
  stretches: readonly Stretch[]
  week: Stretch
  now: number
  zone: string
}

function Track({ entry, stretches, week, now, zone }: TrackProps) {
  const share = (at: number) => `${(((at - week.from) / (week.to - week.from)) * 100).toFixed(3)}%`
  return (
    <span className={classes.track}>
      {stretches.map(({ from, to }) => {
        const [start, end] = [Math.max(from, week.from), Math.min(to, week.to)]
        const words = windowWords(
          { starts_at: new Date(from).toISOString(), ends_at: new Date(to).toISOString() },
          zone,
        )
        return (
          <span
            key={from}
            className={classes.bar}
            data-kind={entry.kind}
            data-now={(from <= now && now < to) || undefined}
            title={words}
            style={{ left: share(start), width: `${(((end - start) / (week.to - week.from)) * 100).toFixed(3)}%` }}
          >
            <span className="sr-only">{words}</span>
          </span>
        )
      })}
      {week.from <= now && now < week.to && <span className={classes.now} style={{ left: share(now) }} />}
    </span>
  )
}

/** "22 – 28 November 2026" */
function weekWords(first: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
  return format.formatRange(Date.parse(`${first}T00:00Z`), Date.parse(`${addDays(first, 6)}T00:00Z`))
}
