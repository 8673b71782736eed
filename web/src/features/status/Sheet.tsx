import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { CSSProperties, ReactNode } from 'react'
import { ApiError } from '../../api/client.ts'
import { ErrorState } from '../../ui/States.tsx'
import { useTab } from '../../ui/status/status.ts'
import classes from './status.module.css'

/** How fresh what is shown is. */
export interface Freshness {
  /** Epoch ms. */
  readAt: number
  /** The newest attempt to read it failed. */
  isCutOff: boolean
}

interface SharedDataProps<T> {
  /** "Status", until the data has a name. */
  title: string
  query: UseQueryResult<T>
  draw: (data: T, freshness: Freshness) => ReactNode
}

/** What is behind a link: until it is there, that it is loading or why it is not. */
export function SharedData<T>({ title, query, draw }: SharedDataProps<T>) {
  const { data, error, refetch, dataUpdatedAt } = query
  // Before the data: what was shown under a link that is revoked since is not to be seen any longer.
  if (error instanceof ApiError && error.code === 'not_found') return <Gone />
  if (data !== undefined) return draw(data, { readAt: dataUpdatedAt, isCutOff: error !== null })
  return (
    <Sheet title={title}>
      {error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <div aria-busy="true">
          <span className="sr-only" role="status">
            Loading the {title.toLowerCase()}
          </span>
          <Skeleton height={76} mb="xl" />
          <Skeleton height={68} mb="sm" />
        </div>
      )}
    </Sheet>
  )
}

/** What a link shows that was revoked, or never was. */
export function Gone() {
  useTab('Status', 'unknown')
  return (
    <Sheet title="This link does not work">
      <p className={classes.text}>
        It may be incomplete, or it was revoked. Ask the person who sent it to you for a new one.
      </p>
    </Sheet>
  )
}

interface SheetProps {
  title: string
  about?: string
  /** The client's, `#rrggbb`. */
  accent?: string | null
  /** Address of its logo. */
  logo?: string | null
  children: ReactNode
}

/** The page without a rail: a heading, what there is to know, and nothing to press. */
export function Sheet({ title, about, accent = null, logo = null, children }: SheetProps) {
  return (
    <div
      className={classes.page}
      data-branded={accent !== null || undefined}
      style={accent === null ? undefined : ({ '--brand': accent } as CSSProperties)}
    >
      <main className={classes.sheet}>
        <header className={classes.title}>
          {logo !== null && <img className={classes.logo} src={logo} alt="" />}
          <h1>{title}</h1>
          {about !== undefined && <p className={classes.text}>{about}</p>}
        </header>
        {children}
      </main>
      <footer className={classes.foot}>Watched by Tagwarden</footer>
    </div>
  )
}
