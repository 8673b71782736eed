import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { BookOpen, Plug } from 'lucide-react'
import { useHasRoute } from '../../lib/use-has-route.ts'

/** To the page that says how a site is connected. */
export function SetUpLink({ siteId }: { siteId: string }) {
  const hasPage = useHasRoute('/sites/$siteId/setup')
  if (!hasPage) {
    return (
      <Button component="a" href="/api/docs" leftSection={<BookOpen size={16} aria-hidden />}>
        How to send events
      </Button>
    )
  }
  return (
    <Button component={Link} to={`/sites/${siteId}/setup` as string} leftSection={<Plug size={16} aria-hidden />}>
      Set this site up
    </Button>
  )
}
