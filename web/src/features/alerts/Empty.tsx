import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { CircleCheck, SearchX } from 'lucide-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import type { Filter } from './inbox.ts'

const TITLES: Readonly<Record<Filter, string>> = {
  all: 'Nothing has gone wrong yet',
  open: 'No alert is open',
  acknowledged: 'No alert is acknowledged',
  resolved: 'No alert is over',
}

const TEXTS: Readonly<Record<Filter, string>> = {
  all: 'A probe whose result is a warning or critical opens an alert here, and it ends by itself when the probe is fine again. Without probes there are no alerts.',
  open: 'Nobody is needed. A new alert appears here by itself.',
  acknowledged: 'Acknowledging says that somebody takes care of an alert: no more reminders are sent.',
  resolved: 'An alert that ends stays here, with its whole story.',
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
      Alerts are found by their words, by severity, and by client and site.
    </EmptyState>
  )
}
