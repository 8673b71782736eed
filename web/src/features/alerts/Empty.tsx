import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { CircleCheck, SearchX } from 'lucide-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import type { Filter } from './inbox.ts'

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
  return (
    <EmptyState
      icon={CircleCheck}
      title={TITLES[filter]}
      action={
        filter === 'all' ? (
          <Button component={Link} to="/" variant="default">
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

export function NothingMatches({ onShowAll }: { onShowAll: () => void }) {
  return (
    <EmptyState
      icon={SearchX}
      title="No alert matches"
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all alerts
        </Button>
      }
    >
      Search alerts by text, severity, client or site.
    </EmptyState>
  )
}
