import type { Directory } from '../../lib/use-directory.ts'
import { scopeName, zoneOf } from '../../ui/quiet/ScopePicker.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EntryActions } from './EntryActions.tsx'
import { type Entry, stateOf, windowOf } from './entries.ts'
import classes from './maintenance.module.css'
import { titleOf, weeklyWords, windowWords } from './words.ts'

interface Props {
  entry: Entry
  directory: Directory
  mayChange: boolean
  onEdit: (id: string) => void
}

/** A silence or maintenance: what for, about what, when. */
export function EntryRow({ entry, directory, mayChange, onEdit }: Props) {
  const { kind, record } = entry
  // What comes each week is read in the zone in which it was planned.
  const zone = (kind === 'maintenance' ? record.timezone : null) ?? zoneOf(record, directory)
  const window = windowOf(entry)
  // Its end in a year is only the latest.
  const endsWithAlerts = kind === 'silence' && record.until_resolved && record.state === 'active'
  const weekly = kind === 'maintenance' ? weeklyWords(record) : null
  return (
    <li className={classes.entry} data-state={stateOf(entry)}>
      <span className={classes.swatch} data-kind={kind} aria-hidden="true" />
      <div className={classes.what}>
        <span className={classes.title}>{titleOf(entry)}</span>
        <span className={classes.scope}>
          {kind === 'silence' ? 'Silence' : 'Maintenance'} of {scopeName(record, directory)}
          {kind === 'silence' && record.subject_label !== null && ` · ${record.subject_label}`}
        </span>
      </div>
      <div className={classes.when}>
        {endsWithAlerts ? (
          <span>until it is resolved</span>
        ) : (
          window !== null && <span>{windowWords(window, zone)}</span>
        )}
        {weekly !== null && <span className={classes.muted}>{weekly}</span>}
      </div>
      {endsWithAlerts ? <span className={classes.left} /> : <Remaining entry={entry} />}
      <span className={classes.by}>by {record.created_by}</span>
      <span className={classes.actions}>{mayChange && <EntryActions entry={entry} onEdit={onEdit} />}</span>
    </li>
  )
}

function Remaining({ entry }: { entry: Entry }) {
  const window = windowOf(entry)
  if (entry.kind === 'maintenance' && !entry.record.is_active) return <span className={classes.left}>suspended</span>
  if (window === null) return <span className={classes.left} />
  switch (stateOf(entry)) {
    case 'now':
      return (
        <span className={classes.left}>
          ends <RelativeTime at={window.ends_at} />
        </span>
      )
    case 'planned':
      return (
        <span className={classes.left}>
          begins <RelativeTime at={window.starts_at} />
        </span>
      )
    case 'over':
      return (
        <span className={classes.left}>
          ended <RelativeTime at={window.ends_at} />
        </span>
      )
  }
}
