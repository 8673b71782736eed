import { Radar } from 'lucide-react'
import { useSession } from '../../api/session.ts'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { EmptyState } from '../../ui/States.tsx'

/** Stands where probes, or the form of one, would be. */
export function NoSites() {
  const { mayChange } = useSession()
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
