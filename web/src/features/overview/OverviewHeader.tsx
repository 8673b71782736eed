import { CloseButton, SegmentedControl, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import type { Overview } from '../../api/overview.ts'
import { useStreamState } from '../../api/stream.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS, STATUSES } from '../../ui/status/status.ts'
import classes from './overview.module.css'
import { type Filter, verdict } from './wall.ts'

interface Props {
  overview: Overview
  filter: Filter
  search: string
  onFilter: (filter: Filter) => void
  onSearch: (search: string) => void
}

const FILTER_LABELS: { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'broken', label: 'Broken' },
  { value: 'silent', label: 'Silent' },
]

export function OverviewHeader({ overview, filter, search, onFilter, onSearch }: Props) {
  return (
    <header className={classes.header}>
      <div className={classes.verdict}>
        <h1>{verdict(overview)}</h1>
        <Totals overview={overview} />
      </div>
      <div className={classes.tools}>
        <TextInput
          className={classes.search}
          aria-label="Find sites and clients"
          placeholder="Site, address or client"
          leftSection={<Search size={16} aria-hidden />}
          rightSection={search !== '' && <CloseButton size="sm" aria-label="Clear" onClick={() => onSearch('')} />}
          value={search}
          onChange={(event) => onSearch(event.currentTarget.value)}
        />
        <SegmentedControl
          aria-label="Which sites"
          data={FILTER_LABELS}
          value={filter}
          onChange={onFilter}
          transitionDuration={0}
        />
      </div>
    </header>
  )
}

function Totals({ overview: { totals } }: { overview: Overview }) {
  return (
    <ul className={classes.totals}>
      {STATUSES.filter((status) => totals[status] > 0).map((status) => (
        <li key={status}>
          <StatusMark status={status} size={10} />
          <b>{totals[status]}</b> {STATUS_WORDS[status]}
        </li>
      ))}
      <li className={classes.live}>
        <Live />
      </li>
    </ul>
  )
}

function Live() {
  const state = useStreamState()
  return <span data-state={state}>{state === 'open' ? 'live' : 'connecting'}</span>
}
