import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, SearchX } from 'lucide-react'
import type { AlertRecord } from '../../api/alerts.ts'
import { overviewQuery } from '../../api/overview.ts'
import { useMayChange } from '../../api/session.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { type Mute, muteOf, type Scope } from '../../ui/mute/mutes.ts'
import { NoSites } from '../../ui/NoSites.tsx'
import { EmptyState } from '../../ui/States.tsx'
import listClasses from '../../ui/WindowList.module.css'
import { AlertRow } from './AlertRow.tsx'
import classes from './alerts.module.css'
import type { LineActions } from './InboxLine.tsx'
import { InboxLines } from './InboxLines.tsx'
import type { Filter, InboxRow } from './inbox.ts'

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
            mayChange={mayChangeOf(directory.sites[row.alert.site_id]?.client_id)}
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

export function NothingMatches({ what, onShowAll }: { what: string; onShowAll: () => void }) {
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
      Search {what}s by text, severity, client or site.
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
