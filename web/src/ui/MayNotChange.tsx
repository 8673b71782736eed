import { LockKeyhole } from 'lucide-react'
import { EmptyState } from './EmptyState.tsx'

/** Stands where a form would be whose call is refused. */
export function MayNotChange() {
  return (
    <EmptyState icon={LockKeyhole} title="Your key reads only">
      Sign in with the admin key to change things.
    </EmptyState>
  )
}
