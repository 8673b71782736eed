import { Button } from '@mantine/core'
import { Building2, CircleCheck, RadioTower, SearchX } from 'lucide-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import type { Filter } from './wall.ts'

export function NoClients() {
  return (
    <EmptyState
      icon={RadioTower}
      title="Nothing is watched yet"
      action={
        <LinkButton to="/clients/new" leftSection={<Building2 size={16} aria-hidden />}>
          Create a client
        </LinkButton>
      }
    >
      Here every site stands in one line, the broken ones first. A site belongs to a client, and its tag server sends to
      Tagwarden with the site's key. <code>npm run demo</code> shows it with example data.
    </EmptyState>
  )
}

interface Props {
  filter: Filter
  search: string
  onShowAll: () => void
}

export function NothingMatches({ filter, search, onShowAll }: Props) {
  const showAll = (
    <Button variant="default" onClick={onShowAll}>
      Show all sites
    </Button>
  )
  if (search.trim() !== '') {
    return (
      <EmptyState icon={SearchX} title={`No site matches "${search.trim()}"`} action={showAll}>
        Search sites by name, address or client.
      </EmptyState>
    )
  }
  const [title, text] =
    filter === 'silent'
      ? ['No site is silent', 'Every site sent something within the last hour.']
      : ['Nothing is broken', 'No site has an open alert or a failing probe.']
  return (
    <EmptyState icon={CircleCheck} title={title ?? ''} action={showAll}>
      {text}
    </EmptyState>
  )
}
