import { Button, Kbd } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Status } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { useNow } from '../../lib/external.ts'
import { counted, personName } from '../../lib/words.ts'
import { type Mute, untilWords } from '../../ui/mute/mutes.ts'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import classes from './alerts.module.css'
import type { Selection } from './use-inbox.ts'
import { clockTime } from './words.ts'

const KEYS = [
  ['j', 'k', 'move'],
  ['↵', 'opens'],
] as const
const CHANGE_KEYS = [
  ['a', 'acknowledges'],
  ['s', 'silences'],
  ['x', 'selects'],
  ['u', 'undoes'],
] as const
const LAST_KEY = [['?', 'lists all']] as const

interface FootProps {
  /** "alert" */
  what: string
  list: { hasOlder: boolean; isShowingOlder: boolean; showOlder: () => void }
  /** Keys that this list has besides. */
  more?: readonly (readonly [string, string])[]
}

/** What ends a list: the button for older lines, and the keys. */
export function InboxFoot({ what, list, more = [] }: FootProps) {
  const { mayChange } = useSession()
  return (
    <footer className={classes.foot}>
      {list.hasOlder && (
        <Button variant="default" loading={list.isShowingOlder} onClick={list.showOlder}>
          Show older {what}s
        </Button>
      )}
      <KeyHelp mayChange={mayChange} more={more} />
    </footer>
  )
}

function KeyHelp({ mayChange, more }: { mayChange: boolean; more: readonly (readonly [string, string])[] }) {
  const shown = [...KEYS, ...more, ...(mayChange ? CHANGE_KEYS : []), ...LAST_KEY]
  return (
    <p className={classes.keys}>
      {shown.map((entry) => (
        <span key={entry[0]}>
          {entry.slice(0, -1).map((key) => (
            <Kbd key={key} size="xs">
              {key}
            </Kbd>
          ))}{' '}
          {entry.at(-1)}
        </span>
      ))}
    </p>
  )
}

interface BulkBarProps {
  /** "alert" */
  what: string
  selection: Selection
  acknowledging: { isBusy: boolean; run: (ids: string[]) => void }
}

/** The actions on the selected lines. */
export function BulkBar({ what, selection, acknowledging: { isBusy, run } }: BulkBarProps) {
  const { size: selected } = selection.selected
  const { openCount: open } = selection
  if (selected === 0) return null
  return (
    <section className={classes.bulk} aria-label={`Selected ${what}s`}>
      <span role="status">{counted(selected, what)} selected</span>
      <Button size="compact-sm" loading={isBusy} onClick={() => run([...selection.selected])}>
        Acknowledge {selected}
      </Button>
      {selected < open && (
        <Button size="compact-sm" variant="default" onClick={selection.all}>
          Select all {open}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={selection.clear}>
        Clear
      </Button>
    </section>
  )
}

interface HandledProps {
  mute: Mute | null
  status: Status
  acknowledgedBy: string | null
  /** Null while unknown: a time in another zone would change before the reader's eyes. */
  zone: string | null
  children?: ReactNode
}

/** What mutes an alert or incident, and who is working on it; empty when no one is. */
export function Handled({ mute, status, acknowledgedBy, zone, children }: HandledProps) {
  const now = useNow()
  return (
    <span className={classes.handled}>
      {mute !== null && (
        <StatusBadge status={status} variant="hatched">
          {`${mute.kind === 'silence' ? 'silenced' : 'maintenance'}${zone === null && !mute.untilResolved ? '' : ` ${untilWords(mute, (at) => clockTime(at, zone ?? undefined, now))}`}`}
        </StatusBadge>
      )}
      {children}
      {acknowledgedBy !== null && (
        <StatusBadge status={status} variant="outline">{`by ${personName(acknowledgedBy)}`}</StatusBadge>
      )}
    </span>
  )
}
