import type { AlertDetail } from '../../api/alerts.ts'
import classes from './detail.module.css'

/** Measured against usual, and which event or tag. */
export function Facts({ facts }: { facts: AlertDetail['facts'] }) {
  if (facts.length === 0) return null
  return (
    <dl className={classes.figures}>
      {facts.map(({ name, value }) => (
        <div key={name} data-measured={name === 'Measured' || undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
