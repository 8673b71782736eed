import { Button } from '@mantine/core'
import { CalendarX, RadioTower } from 'lucide-react'
import { useTimeRange } from '../../lib/use-time-range.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { SetUpLink } from './SetUpLink.tsx'
import { useSite } from './site-scope.ts'

/** Stands where the charts would be. */
export function NoData() {
  const { site, report } = useSite()
  const { set } = useTimeRange()
  if (report.last_seen === null) {
    return (
      <EmptyState icon={RadioTower} title="No event has arrived yet" action={<SetUpLink siteId={site.id} />}>
        Here you will see which events come, how the tags perform on them, and which data they carry. The tag server
        sends it with this site's key; the first event shows here automatically.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={CalendarX}
      title="Nothing arrived in this time"
      action={
        <Button variant="default" onClick={() => set({ preset: '7d' })}>
          Show the last 7 days
        </Button>
      }
    >
      The last event came <RelativeTime at={report.last_seen} zone={site.timezone} />.
    </EmptyState>
  )
}
