import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type CSSProperties, type ReactNode, useEffect, useRef } from 'react'
import { ErrorState } from '../../ui/States.tsx'
import { useTab } from '../../ui/status/status.ts'
import classes from './status.module.css'

/** How fresh the shown data is. */
export interface Freshness {
  /** Epoch ms. */
  readAt: number
  /** Whether the latest attempt to load it failed. */
  isCutOff: boolean
}

interface SharedDataProps<T> {
  /** Shown until the data with its name is loaded: "Status". */
  title: string
  /** Null when the link does not work. */
  query: UseQueryResult<T | null>
  draw: (data: T, freshness: Freshness) => ReactNode
}

/** Renders the data behind a link, or that it is loading, or why it cannot be shown. */
export function SharedData<T>({ title, query, draw }: SharedDataProps<T>) {
  const { data, error, refetch, dataUpdatedAt } = query
  if (data === null) return <Gone />
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

/** The page of a link that was revoked or never existed. */
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
  /** The client's colour, `#rrggbb`. */
  accent?: string | null
  /** Address of the client's logo. */
  logo?: string | null
  children: ReactNode
}

/** A page without a rail: a heading and its content. */
export function Sheet({ title, about, accent = null, logo = null, children }: SheetProps) {
  const main = useRef<HTMLElement>(null)
  const hadFocus = useRef(false)
  // The button that changed the page may be gone with what it was about: the focus goes to what is there instead.
  useEffect(() => {
    if (title !== '' && hadFocus.current && document.activeElement === document.body) main.current?.focus()
  }, [title])
  return (
    <div
      className={classes.page}
      data-branded={accent !== null || undefined}
      style={accent === null ? undefined : ({ '--brand': accent } as CSSProperties)}
    >
      <main
        ref={main}
        tabIndex={-1}
        className={classes.sheet}
        onFocus={() => {
          hadFocus.current = true
        }}
      >
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
