import { Button } from '@mantine/core'
import { Plus, Radar, SearchX } from 'lucide-react'
import { useSession } from '../../api/session.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import type { Filter } from './list.ts'

interface NoProbesProps {
  siteId: string | undefined
  hasSites: boolean
}

export function NoProbes({ siteId, hasSites }: NoProbesProps) {
  const { mayChange } = useSession()
  if (!hasSites) {
    return (
      <EmptyState
        icon={Radar}
        title="No site, so nothing to check"
        action={mayChange && <LinkButton to="/clients">Create a client and a site</LinkButton>}
      >
        A probe checks one thing of one site, again and again: whether its tag server answers, whether its events still
        come.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={Radar}
      title={siteId === undefined ? 'No probe yet' : 'No probe watches this site'}
      action={
        mayChange && (
          <LinkButton
            to="/probes/new"
            search={siteId === undefined ? {} : ({ site: siteId } as object)}
            leftSection={<Plus size={16} aria-hidden />}
          >
            Add a probe
          </LinkButton>
        )
      }
    >
      A probe checks one thing at regular intervals: whether the tag server answers, whether events come as usual, which
      tags fail. Without one a site has no status, and no one is notified when it breaks.
    </EmptyState>
  )
}

interface NothingMatchesProps {
  filter: Filter
  search: string
  onShowAll: () => void
}

const TITLES: Readonly<Record<Filter, string>> = {
  all: 'No probe',
  trouble: 'Every probe is ok',
  off: 'No probe is switched off',
}

export function NothingMatches({ filter, search, onShowAll }: NothingMatchesProps) {
  const sought = search.trim()
  return (
    <EmptyState
      icon={SearchX}
      title={sought === '' ? TITLES[filter] : `No probe matches "${sought}"`}
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all probes
        </Button>
      }
    >
      {sought === ''
        ? 'None of the probes is in this state now.'
        : 'Search probes by name, type, site or last message.'}
    </EmptyState>
  )
}
