import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { type ServiceSettings, settingsQuery } from '../../api/settings.ts'
import { ErrorState } from '../../ui/States.tsx'
import classes from './settings.module.css'

interface Props {
  title: string
  /** A sentence that says what it is. */
  about?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A part of the settings with its heading. */
export function Card({ title, about, actions, children }: Props) {
  const id = useId()
  return (
    <section className={classes.card} aria-labelledby={id}>
      <header className={classes.cardHead}>
        <div>
          <h2 id={id}>{title}</h2>
          {about !== undefined && <p className={classes.muted}>{about}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  )
}

interface Fact {
  name: string
  value: ReactNode
  /** The setting that decides it. */
  setting?: string
}

/** Names and values, each with the service's setting that decides it. */
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

/** Renders its children with the settings in effect, once they are loaded. */
export function WithSettings({ children }: { children: (settings: ServiceSettings) => ReactNode }) {
  const { data, error, refetch } = useQuery(settingsQuery)
  if (data !== undefined) return children(data)
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <Skeleton height={180} radius="md" aria-busy="true" />
}
