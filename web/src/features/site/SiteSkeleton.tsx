import { Skeleton } from '@mantine/core'
import figures from './Figures.module.css'
import classes from './site.module.css'

const FIGURES = ['score', 'delivery', 'user data', 'e-commerce', 'events', 'failed', 'refused']
const PANELS = [
  { key: 'events', height: 268 },
  { key: 'health', height: 308 },
  { key: 'latency', height: 232 },
]

/** All have the size of what follows, so that nothing jumps. */
export function SiteSkeleton() {
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading the site
      </span>
      <div className={classes.skeletonHead}>
        <Skeleton height={26} width={240} />
        <Skeleton height={22} width={420} maw="100%" />
      </div>
      <ReportSkeleton />
    </div>
  )
}

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
