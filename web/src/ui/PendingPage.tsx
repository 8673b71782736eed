import type { ComponentProps, ReactNode } from 'react'
import { PageHeader } from './PageHeader.tsx'
import { ErrorState, MayNotChange } from './States.tsx'

type Head = Pick<ComponentProps<typeof PageHeader>, 'title' | 'parents'>

interface Props extends Head {
  /** Why loading failed; null while it is loading. */
  error: Error | null
  onRetry: () => void
  /** Announced while loading: "Loading the site". */
  loading: string
  /** A skeleton as large as the page. */
  children: ReactNode
}

/** A page whose data is loading or failed to load. Its header already shows where the user is. */
export function PendingPage({ title, parents = [], error, onRetry, loading, children }: Props) {
  return (
    <>
      <PageHeader title={title} parents={parents} />
      {error !== null ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : (
        <div aria-busy="true">
          <span className="sr-only" role="status">
            {loading}
          </span>
          {children}
        </div>
      )}
    </>
  )
}

/** Shown instead of a form that the user may not submit. */
export function LockedPage(head: Head) {
  return (
    <>
      <PageHeader {...head} />
      <MayNotChange />
    </>
  )
}
