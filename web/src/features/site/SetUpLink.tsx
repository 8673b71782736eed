import { Plug } from 'lucide-react'
import { LinkButton } from '../../ui/LinkButton.tsx'

/** To the page that says how a site is connected. */
export function SetUpLink({ siteId }: { siteId: string }) {
  return (
    <LinkButton to="/sites/$siteId/setup" params={{ siteId }} leftSection={<Plug size={16} aria-hidden />}>
      Set this site up
    </LinkButton>
  )
}
