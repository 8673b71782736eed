import { Skeleton } from '@mantine/core'
import classes from './overview.module.css'

const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Has the size of what follows, so that nothing jumps. */
export function OverviewSkeleton() {
  return (
    <div className={classes.page} aria-busy="true">
      <span className="sr-only" role="status">
        Loading the overview
      </span>
      <header className={classes.header}>
        <div className={classes.verdict}>
          <Skeleton height={26} width={180} />
          <Skeleton height={20} width={260} />
        </div>
        <div className={classes.tools}>
          <Skeleton height={36} className={classes.search} />
          <Skeleton height={36} width={190} />
        </div>
      </header>
      <div className={classes.wall}>
        {LINES.map((line) => (
          <div key={line} className={classes.site}>
            <Skeleton height={12} width={12} circle />
            <Skeleton height={14} width="60%" />
            <Skeleton height={14} width="40%" />
          </div>
        ))}
      </div>
    </div>
  )
}
