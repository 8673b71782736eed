import { Skeleton } from '@mantine/core'
import classes from './alerts.module.css'

const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Has the size of what follows, so that nothing jumps. */
export function InboxSkeleton() {
  return (
    <section className={classes.inbox} aria-busy="true" aria-label="Alerts">
      <span className="sr-only" role="status">
        Loading the alerts
      </span>
      {LINES.map((line) => (
        <div key={line} className={classes.skeletonRow}>
          <Skeleton height={12} width={12} circle />
          <Skeleton height={14} width="55%" />
          <Skeleton height={14} width="15%" />
        </div>
      ))}
    </section>
  )
}
