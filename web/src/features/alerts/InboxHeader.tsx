import { SegmentedControl, Select } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSession } from '../../api/session.ts'
import { useStreamState } from '../../api/stream.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { SearchField } from '../../ui/SearchField.tsx'
import { SiteSelect } from '../../ui/SiteSelect.tsx'
import classes from './alerts.module.css'
import { type Counts, filterLabels } from './inbox.ts'
import type { InboxFilter } from './use-inbox.ts'

interface InboxHeaderProps {
  /** "alerts" */
  what: string
  /** The sentence at the top. */
  title: string
  /** Null while unknown. */
  counts: Counts | null
  directory: Directory
  filter: InboxFilter
  /** A link to the other list. */
  children: ReactNode
}

const SEVERITIES = [
  { value: 'all', label: 'Every severity' },
  { value: 'critical', label: 'Critical' },
  { value: 'warning', label: 'Warning' },
]

/** The header of a list of alerts or incidents: the counts and the filters. */
export function InboxHeader({ what, title, counts, directory, filter, children }: InboxHeaderProps) {
  return (
    <header className={classes.header}>
      <div className={classes.verdict}>
        <h1>{title}</h1>
        <Live />
        <span className={classes.other}>{children}</span>
      </div>
      <div className={classes.tools}>
        <SegmentedControl
          className={classes.states ?? ''}
          aria-label={`Which ${what}`}
          data={filterLabels(counts)}
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
        <SearchField
          className={classes.search}
          label={`Find ${what}`}
          placeholder={`Search ${what}`}
          text={filter.text}
          onChange={filter.setText}
        />
      </div>
    </header>
  )
}

function Live() {
  const state = useStreamState()
  const { seesAny } = useSession()
  return (
    seesAny && (
      <span className={classes.live} data-state={state}>
        {state === 'open' ? 'live' : 'connecting'}
      </span>
    )
  )
}
