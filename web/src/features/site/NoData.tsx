import { Button, Skeleton } from '@mantine/core'
import { CalendarX, Plug, RadioTower } from 'lucide-react'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { useTimeRange } from '../../ui/time-range/use-time-range.ts'
import figures from './SiteFigures.module.css'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'

/** Shown instead of the charts when there is no data. */
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
      title="Nothing arrived in this period"
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

/** A link to the setup of a site. */
export function SetUpLink({ siteId }: { siteId: string }) {
  return (
    <LinkButton to="/sites/$siteId/setup" params={{ siteId }} leftSection={<Plug size={16} aria-hidden />}>
      Set this site up
    </LinkButton>
  )
}

const FIGURES = ['score', 'delivery', 'user data', 'e-commerce', 'events', 'failed', 'refused']
const PANELS = [
  { key: 'events', height: 268 },
  { key: 'health', height: 308 },
  { key: 'latency', height: 232 },
]

/** As large as the report, so that nothing jumps when it loads. */
export function ReportSkeleton() {
  return (
    <div className={classes.charts}>
      <div className={figures.figures}>
        {FIGURES.map((key) => (
          <div key={key} className={figures.figure}>
            <Skeleton height={12} width="60%" mb={8} />
            <Skeleton height={28} width="50%" />
          </div>
        ))}
      </div>
      <Skeleton height={36} width={320} maw="100%" />
      <ChartsSkeleton />
    </div>
  )
}

export function ChartsSkeleton() {
  return (
    <div className={classes.charts} aria-busy="true">
      {PANELS.map(({ key, height }) => (
        <Skeleton key={key} height={height} />
      ))}
    </div>
  )
}

export function TableSkeleton() {
  return <Skeleton height={480} aria-busy="true" />
}
