import { Skeleton } from '@mantine/core'
import classes from './probes.module.css'

const LINES = ['a', 'b', 'c', 'd', 'e', 'f']

/** Has the size of what follows, so that nothing jumps. */
export function ProbesSkeleton() {
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading the probes
      </span>
      <div className={classes.tools}>
        <Skeleton height={36} className={classes.search} />
        <Skeleton height={36} width={220} />
      </div>
      <div className={classes.ghosts}>
        {LINES.map((line) => (
          <Skeleton key={line} height={20} />
        ))}
      </div>
    </div>
  )
}
