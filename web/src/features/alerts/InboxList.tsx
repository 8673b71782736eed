import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import { overviewQuery } from '../../api/overview.ts'
import { useMayChange } from '../../api/session.ts'
import { useNow } from '../../lib/external.ts'
import { onsetLine } from '../../lib/onset.ts'
import type { Directory, DirectorySite } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import { type Mute, muteOf, type Scope } from '../../ui/mute/mutes.ts'
import { SilenceMenu } from '../../ui/mute/SilenceMenu.tsx'
import { NoSites } from '../../ui/NoSites.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import listClasses from '../../ui/WindowList.module.css'
import { WindowList } from '../../ui/WindowList.tsx'
import classes from './alerts.module.css'
import { InboxLine, type LineActions } from './InboxLine.tsx'
import type { Filter, InboxRow } from './inbox.ts'
import { Handled } from './inbox-parts.tsx'
import { typeName } from './type-names.ts'
import { clockTime, endWords, markOf } from './words.ts'

interface Props extends Omit<LineActions<AlertRecord>, 'mayChange'> {
  rows: readonly InboxRow[]
  directory: Directory
  mutes: readonly (Mute & Scope)[]
  selected: ReadonlySet<string>
  /** The id of the alert with the keyboard's focus. */
  active: string | null
  onActive: (id: string) => void
}

/** The list of alerts. */
export function InboxList({ rows, directory, mutes, selected, active, onActive, ...actions }: Props) {
  const mayChangeOf = useMayChange()
  return (
    <InboxLines
      label="Alerts"
      rows={rows}
      active={active}
      onActive={onActive}
      draw={(row) =>
        row.kind === 'alert' && (
          <AlertRow
            alert={row.alert}
            site={directory.sites[row.alert.site_id]}
            noSite={directory.noSite}
            mute={muteOf(mutes, row.alert)}
            isSelected={selected.has(row.key)}
            {...actions}
            mayChange={mayChangeOf(row.alert.client_id)}
          />
        )
      }
    />
  )
}

const TITLES: Readonly<Record<Filter, string>> = {
  all: 'Nothing has gone wrong yet',
  open: 'No alert is open',
  acknowledged: 'No alert is acknowledged',
  resolved: 'No alert is resolved yet',
}

const TEXTS: Readonly<Record<Filter, string>> = {
  all: 'A probe whose result is a warning or critical opens an alert here; it resolves automatically when the probe is ok again. Without probes there are no alerts.',
  open: 'Nothing needs attention. New alerts appear here automatically.',
  acknowledged: 'Acknowledging an alert says that someone is working on it and stops reminders.',
  resolved: 'Resolved alerts stay here with their full history.',
}

export function NoAlerts({ filter, onShowAll }: { filter: Filter; onShowAll: () => void }) {
  const { data: overview } = useQuery(overviewQuery)
  if (overview?.totals.sites === 0) {
    return <NoSites title="No site is watched">An alert opens when a probe finds something wrong with a site.</NoSites>
  }
  return (
    <EmptyState
      icon={CircleCheck}
      title={TITLES[filter]}
      action={
        filter === 'all' ? (
          <Button component={Link} to="/overview" variant="default">
            Go to the overview
          </Button>
        ) : (
          <Button variant="default" onClick={onShowAll}>
            Show all alerts
          </Button>
        )
      }
    >
      {TEXTS[filter]}
    </EmptyState>
  )
}

interface NothingMatchesProps {
  /** "alert" */
  what: string
  /** Whether there are more resolved ones than were read. */
  hasOlder: boolean
  onShowAll: () => void
}

export function NothingMatches({ what, hasOlder, onShowAll }: NothingMatchesProps) {
  return (
    <EmptyState
      icon={SearchX}
      title={`No ${what} matches`}
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all {what}s
        </Button>
      }
    >
      Search {what}s by text, severity, client or site.{hasOlder && ` Older ${what}s are not searched yet.`}
    </EmptyState>
  )
}

const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** As large as the list, so that nothing jumps when it loads. */
export function InboxSkeleton({ what }: { what: string }) {
  return (
    <section className={listClasses.list} aria-busy="true" aria-label={`Loading the ${what}`}>
      <span className="sr-only" role="status">
        Loading the {what}
      </span>
      {LINES.map((line) => (
        <div key={line} className={classes.skeletonRow}>
          <Skeleton height={12} width={12} circle />
          <Skeleton height={14} width="55%" />
          <Skeleton height={14} width="15%" />
        </div>
      ))}
    </section>
  )
}

/** A line of the list: the heading of a state, or an alert or incident that the keyboard can reach by its key. */
type Line =
  | { key: string; kind: 'heading'; state: AlertRecord['state']; count: number }
  | { key: string; kind: 'alert' | 'incident' }

interface InboxLinesProps<T extends Line> {
  /** "Alerts" */
  label: string
  rows: readonly T[]
  /** The key of the line with the keyboard's focus. */
  active: string | null
  onActive: (key: string) => void
  /** Draws a line that is not a heading. */
  draw: (row: T) => ReactNode
}

const HEADINGS = { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved' } as const
/** Estimated heights until they are measured, px. */
const ROW = 53
const HEADING = 37

/** A list of alerts or incidents. */
export function InboxLines<T extends Line>({ onActive, draw, ...list }: InboxLinesProps<T>) {
  return (
    <WindowList
      {...list}
      height={({ kind }) => (kind === 'heading' ? HEADING : ROW)}
      onActive={({ kind, key }) => kind !== 'heading' && onActive(key)}
      draw={(row) =>
        row.kind === 'heading' ? (
          <h2 className={classes.heading}>
            {HEADINGS[row.state]} <span>{row.count}</span>
          </h2>
        ) : (
          draw(row)
        )
      }
    />
  )
}

interface AlertRowProps extends LineActions<AlertRecord> {
  alert: AlertRecord
  site: DirectorySite | undefined
  /** Shown instead of an unknown site's name. */
  noSite: string
  mute: Mute | null
  isSelected: boolean
}

export function AlertRow({ alert, site, noSite, mute, ...line }: AlertRowProps) {
  const status = markOf(alert)
  const zone = site?.timezone
  const place = site === undefined ? noSite : `${site.name} · ${site.client_name}`
  return (
    <InboxLine
      {...line}
      item={alert}
      link={{ to: '/alerts/$alertId', params: { alertId: alert.id } }}
      status={status}
      mute={mute}
      zone={zone}
      where={
        <>
          <span title={place}>{place}</span>
          {zone !== undefined && <Onset alert={alert} zone={zone} />}
          <span className={classes.type}> · {typeName(alert.probe_type)}</span>
        </>
      }
      handled={
        alert.state === 'resolved' ? (
          <span className={classes.handled}>{endWords(alert)}</span>
        ) : (
          <Handled mute={mute} status={status} acknowledgedBy={alert.acknowledged_by} zone={zone ?? null}>
            {alert.is_flapping && <StatusBadge status="unknown">flapping</StatusBadge>}
          </Handled>
        )
      }
      count={
        <span className={classes.occurrences}>
          {alert.occurrences} ×<span className="sr-only"> {counted(alert.occurrences, 'bad result')}</span>
        </span>
      }
      drawSilencing={(menu) => <SilenceMenu target={alert} zone={zone ?? 'UTC'} {...menu} />}
    />
  )
}

/** When the alert began, if it was detected later. */
function Onset({ alert, zone }: { alert: AlertRecord; zone: string }) {
  const now = useNow()
  const line = alert.state === 'resolved' ? null : onsetLine(alert, (at) => clockTime(at, zone, now))
  return line === null ? null : <span> · {line}</span>
}
