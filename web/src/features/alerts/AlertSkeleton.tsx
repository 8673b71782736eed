import { Skeleton } from '@mantine/core'
import classes from './detail.module.css'

export function AlertSkeleton() {
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading the alert
      </span>
      <div className={classes.columns}>
        <Skeleton height={340} radius="md" />
        <Skeleton height={340} radius="md" />
      </div>
    </div>
  )
}
