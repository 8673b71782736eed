import type { ReactNode } from 'react'
import classes from './settings.module.css'

export interface Fact {
  name: string
  value: ReactNode
  /** The setting that decides it. */
  setting?: string
}

/** Names and values, and which setting of the service decides each. */
export function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={classes.factList}>
      {facts.map(({ name, value, setting }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span>{value}</span>
            {setting !== undefined && <code className={classes.muted}>{setting}</code>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
