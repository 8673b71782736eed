import { CloseButton, SegmentedControl, Select, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useStreamState } from '../../api/stream.ts'
import { SiteSelect } from '../../ui/SiteSelect.tsx'
import classes from './alerts.module.css'
import { type Filter, verdict } from './inbox.ts'
import type { Inbox, InboxFilter } from './use-inbox.ts'

interface Props {
  inbox: Inbox
  filter: InboxFilter
}

const SEVERITIES = [
  { value: 'all', label: 'Every severity' },
  { value: 'critical', label: 'Critical' },
  { value: 'warning', label: 'Warning' },
]

export function InboxHeader({ inbox, filter }: Props) {
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
