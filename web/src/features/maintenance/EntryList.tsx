import type { ReactNode } from 'react'
import type { Directory } from '../../lib/use-directory.ts'
import { EntryRow } from './EntryRow.tsx'
import { bySoonest, type Entry } from './entries.ts'
import classes from './maintenance.module.css'

interface Props {
  title: string
  entries: readonly Entry[]
  directory: Directory
  mayChange: boolean
  onEdit: (id: string) => void
  /** What to say when there is nothing. */
  children: ReactNode
}

export function EntryList({ title, entries, children, ...row }: Props) {
  return (
    <section className={classes.list} aria-label={title}>
      <h2 className={classes.listHead}>
        {title} {entries.length > 0 && <span>{entries.length}</span>}
      </h2>
      {entries.length === 0 ? (
        <p className={classes.nothing}>{children}</p>
      ) : (
        <ul className={classes.entries}>
          {entries.toSorted(bySoonest).map((entry) => (
            <EntryRow key={entry.record.id} entry={entry} {...row} />
          ))}
        </ul>
      )}
    </section>
  )
}
