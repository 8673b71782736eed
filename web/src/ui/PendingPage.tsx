import type { ComponentProps, ReactNode } from 'react'
import { PageHeader } from './PageHeader.tsx'
import { ErrorState, MayNotChange } from './States.tsx'

type Head = Pick<ComponentProps<typeof PageHeader>, 'title' | 'parents'>

interface Props extends Head {
  /** Why it does not come; null while it may. */
  error: Error | null
  onRetry: () => void
  /** What is said while it comes: "Loading the site". */
  loading: string
  /** A skeleton as large as what follows. */
  children: ReactNode
}

/** A page whose data is not there yet, or does not come. Its head says where one is, and no longer where one was. */
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

/** A page of a form whose call is refused. */
export function LockedPage(head: Head) {
  return (
    <>
      <PageHeader {...head} />
      <MayNotChange />
    </>
  )
}
