import { ActionIcon, Button, Menu } from '@mantine/core'
import { EllipsisVertical } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useEndSilence } from '../../api/alerts.ts'
import { type MaintenanceRecord, useChangeMaintenance, useDeleteMaintenance } from '../../api/maintenance.ts'
import { notifyOf } from '../../lib/refusal.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { personName } from '../../lib/words.ts'
import { ConfirmByName } from '../../ui/Confirm.tsx'
import { scopeName, zoneOf } from '../../ui/mute/scope.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { bySoonest, type Entry, stateOf, titleOf, windowOf } from './entries.ts'
import classes from './maintenance.module.css'
import { weeklyWords, windowWords } from './schedule.ts'

interface EntryListProps {
  title: string
  entries: readonly Entry[]
  directory: Directory
  mayChange: (entry: Entry) => boolean
  onEdit: (id: string) => void
  /** Shown when the list is empty. */
  children: ReactNode
}

export function EntryList({ title, entries, children, ...row }: EntryListProps) {
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

interface EntryRowProps {
  entry: Entry
  directory: Directory
  mayChange: (entry: Entry) => boolean
  onEdit: (id: string) => void
}

/** A silence or maintenance: why, for what, and when. */
function EntryRow({ entry, directory, mayChange, onEdit }: EntryRowProps) {
  const { kind, record } = entry
  // Weekly maintenance is shown in the zone in which it was planned.
  const zone = (kind === 'maintenance' ? record.timezone : null) ?? zoneOf(record, directory)
  const window = windowOf(entry)
  // A silence until the alerts resolve has an end in a year, which is only the latest possible.
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
      <span className={classes.by}>by {personName(record.created_by)}</span>
      <span className={classes.actions}>{mayChange(entry) && <EntryActions entry={entry} onEdit={onEdit} />}</span>
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

interface EntryActionsProps {
  entry: Entry
  onEdit: (id: string) => void
}

/** The actions on an entry; none when it is over. */
function EntryActions({ entry, onEdit }: EntryActionsProps) {
  const end = useEndSilence()
  if (entry.kind === 'maintenance') return <MaintenanceActions record={entry.record} onEdit={onEdit} />
  const state = stateOf(entry)
  if (state === 'over') return null
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={end.isPending}
      onClick={() => end.mutate(entry.record.id, { onError: failed })}
    >
      {state === 'now' ? 'End now' : 'Delete'}
    </Button>
  )
}

function MaintenanceActions({ record, onEdit }: { record: MaintenanceRecord; onEdit: (id: string) => void }) {
  const [isDeleting, setDeleting] = useState(false)
  const change = useChangeMaintenance()
  const remove = useDeleteMaintenance()
  const { id, title, kind, is_active, is_under_way } = record
  const set = (changes: { is_active: boolean } | { ends_at: string }) =>
    change.mutate({ id, ...changes }, { onError: failed })
  return (
    <>
      {is_under_way && kind === 'once' ? (
        <Button
          size="compact-sm"
          variant="default"
          loading={change.isPending}
          onClick={() => set({ ends_at: new Date().toISOString() })}
        >
          End now
        </Button>
      ) : (
        <Button size="compact-sm" variant="default" onClick={() => onEdit(id)}>
          Edit
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={26} aria-label={`More about ${title}`}>
            <EllipsisVertical size={14} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => onEdit(id)}>Edit</Menu.Item>
          <Menu.Item onClick={() => set({ is_active: !is_active })}>{is_active ? 'Suspend' : 'Resume'}</Menu.Item>
          <Menu.Item color="danger" onClick={() => setDeleting(true)}>
            Delete …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmByName
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={() => remove.mutateAsync(id)}
        title={`Delete ${title}`}
        name={title}
        action="Delete it"
      >
        Ends all of its windows, including the current one. Alerts that are still open are then notified. Results it
        marked keep its name.
      </ConfirmByName>
    </>
  )
}

const failed = notifyOf('Nothing was changed')
