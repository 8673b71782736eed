import { Button, CloseButton, Kbd, SegmentedControl, Select, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import { useSession } from '../../api/session.ts'
import { useStreamState } from '../../api/stream.ts'
import { useSetUrlState } from '../../lib/use-url-state.ts'
import { counted } from '../../lib/words.ts'
import { useMutes } from '../../ui/mute/mutes.ts'
import { useSetBreadcrumbs } from '../../ui/PageHeader.tsx'
import { SiteSelect } from '../../ui/SiteSelect.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { useAcknowledging } from '../../ui/undo.tsx'
import classes from './alerts.module.css'
import { InboxList, InboxSkeleton, NoAlerts, NothingMatches } from './InboxList.tsx'
import { type Filter, type InboxRow, verdict } from './inbox.ts'
import { type Inbox, type InboxFilter, useInbox, useInboxFilter, useInboxKeys, useSelection } from './use-inbox.ts'
import { useLiveAlerts } from './use-live-alerts.ts'

/** What is wrong, what someone takes care of, and what is over. */
export function AlertsPage() {
  useSetBreadcrumbs('Alerts')
  useLiveAlerts()
  const filter = useInboxFilter()
  const inbox = useInbox(filter)
  return (
    <>
      <InboxHeader inbox={inbox} filter={filter} />
      {inbox.rows !== null ? (
        <Loaded rows={inbox.rows} inbox={inbox} filter={filter} />
      ) : inbox.error !== null ? (
        <ErrorState error={inbox.error} onRetry={inbox.retry} />
      ) : (
        <InboxSkeleton />
      )}
    </>
  )
}

function Loaded({ rows, inbox, filter }: { rows: readonly InboxRow[]; inbox: Inbox; filter: InboxFilter }) {
  const { mayChange } = useSession()
  const mutes = useMutes()
  const navigate = useNavigate()
  const selection = useSelection(rows)
  const acknowledging = useAcknowledging()
  const [active, setActive] = useState<string | null>(null)
  const [silencing, setSilencing] = useState<string | null>(null)
  const set = useSetUrlState()

  const alerts = rows.flatMap((row) => (row.kind === 'alert' ? [row.alert] : []))
  const index = alerts.findIndex(({ id }) => id === active)
  const current = alerts[index]
  const move = (step: number) => setActive(alerts[Math.max(0, Math.min(alerts.length - 1, index + step))]?.id ?? null)
  const change = (act: (alert: AlertRecord) => void) => () => {
    if (mayChange && current !== undefined) act(current)
  }
  useInboxKeys(
    {
      down: () => move(1),
      up: () => move(index === -1 ? 1 : -1),
      open: () => {
        if (current !== undefined) void navigate({ to: '/alerts/$alertId', params: { alertId: current.id } })
      },
      acknowledge: change((alert) => {
        if (alert.state === 'open') acknowledging.run([alert.id])
      }),
      silence: change((alert) => {
        if (alert.state !== 'resolved') setSilencing(alert.id)
      }),
      select: change(selection.toggle),
    },
    () => document.activeElement?.closest('[data-index]') != null,
  )

  if (rows.length === 0) {
    const isNarrowed = filter.text !== '' || filter.client !== '' || filter.site !== '' || filter.severity !== 'all'
    const showAll = () =>
      set({ state: undefined, q: undefined, client: undefined, site: undefined, severity: undefined })
    return isNarrowed ? <NothingMatches onShowAll={showAll} /> : <NoAlerts filter={filter.filter} onShowAll={showAll} />
  }
  return (
    <>
      <BulkBar
        selected={selection.selected.size}
        open={selection.openCount}
        isBusy={acknowledging.isBusy}
        onAcknowledge={() => acknowledging.run([...selection.selected])}
        onAll={selection.all}
        onClear={selection.clear}
      />
      <InboxList
        rows={rows}
        directory={inbox.directory}
        mutes={mutes}
        selected={selection.selected}
        active={active}
        onActive={setActive}
        mayChange={mayChange}
        acknowledge={({ id }) => acknowledging.run([id])}
        select={selection.toggle}
        silencing={silencing}
        setSilencing={setSilencing}
      />
      <footer className={classes.foot}>
        {inbox.hasOlder && (
          <Button variant="default" loading={inbox.isShowingOlder} onClick={inbox.showOlder}>
            Show older alerts
          </Button>
        )}
        <KeyHelp mayChange={mayChange} />
      </footer>
    </>
  )
}

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

function KeyHelp({ mayChange }: { mayChange: boolean }) {
  const shown = mayChange ? [...KEYS, ...CHANGE_KEYS] : KEYS
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

interface InboxHeaderProps {
  inbox: Inbox
  filter: InboxFilter
}

const SEVERITIES = [
  { value: 'all', label: 'Every severity' },
  { value: 'critical', label: 'Critical' },
  { value: 'warning', label: 'Warning' },
]

function InboxHeader({ inbox, filter }: InboxHeaderProps) {
  const { counts, directory } = inbox
  const labels: { value: Filter; label: string }[] = [
    { value: 'all', label: 'All' },
    { value: 'open', label: `Open ${counts.open}` },
    { value: 'acknowledged', label: `Acknowledged ${counts.acknowledged}` },
    { value: 'resolved', label: 'Resolved' },
  ]
  return (
    <header className={classes.header}>
      <div className={classes.verdict}>
        <h1>{inbox.rows === null ? 'Alerts' : verdict(counts)}</h1>
        <Live />
      </div>
      <div className={classes.tools}>
        <SegmentedControl
          className={classes.states ?? ''}
          aria-label="Which alerts"
          data={labels}
          value={filter.filter}
          onChange={filter.setFilter}
          transitionDuration={0}
        />
        <SiteSelect directory={directory} client={filter.client} site={filter.site} className={classes.place} />
        <Select
          className={classes.severity}
          aria-label="Severity"
          data={SEVERITIES}
          value={filter.severity}
          onChange={(value) => filter.setSeverity(value === 'critical' || value === 'warning' ? value : 'all')}
          allowDeselect={false}
        />
        <TextInput
          className={classes.search}
          aria-label="Find alerts"
          placeholder="Search alerts"
          leftSection={<Search size={16} aria-hidden />}
          rightSection={
            filter.text !== '' && <CloseButton size="sm" aria-label="Clear" onClick={() => filter.setText('')} />
          }
          value={filter.text}
          onChange={(event) => filter.setText(event.currentTarget.value)}
        />
      </div>
    </header>
  )
}

function Live() {
  const state = useStreamState()
  return (
    <span className={classes.live} data-state={state}>
      {state === 'open' ? 'live' : 'connecting'}
    </span>
  )
}

interface BulkBarProps {
  selected: number
  open: number
  isBusy: boolean
  onAcknowledge: () => void
  onAll: () => void
  onClear: () => void
}

/** What can be done with the alerts that were picked. */
function BulkBar({ selected, open, isBusy, onAcknowledge, onAll, onClear }: BulkBarProps) {
  if (selected === 0) return null
  return (
    <section className={classes.bulk} aria-label="Selected alerts">
      <span role="status">{counted(selected, 'alert')} selected</span>
      <Button size="compact-sm" loading={isBusy} onClick={onAcknowledge}>
        Acknowledge {selected}
      </Button>
      {selected < open && (
        <Button size="compact-sm" variant="default" onClick={onAll}>
          Select all {open}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </section>
  )
}
