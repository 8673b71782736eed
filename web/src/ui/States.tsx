import { Button, Skeleton } from '@mantine/core'
import { LockKeyhole, type LucideIcon, RefreshCw, SearchX, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { explain } from './error-words.ts'
import classes from './States.module.css'

interface EmptyStateProps {
  icon: LucideIcon
  title: string
  /** Says what would be here, and why it is empty. */
  children: ReactNode
  /** The one button that fills it. */
  action?: ReactNode
  /** `main` when it is the whole page, whose heading its title then is. */
  as?: 'section' | 'main'
  /** Of its title: 1 where it is all that its page shows. */
  level?: 1 | 2
}

/** Shown instead of an empty list or chart; says what fills it. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
  as: Box = 'section',
  level = Box === 'main' ? 1 : 2,
}: EmptyStateProps) {
  const Title = `h${level}` as const
  return (
    <Box className={classes.box}>
      <Icon size={28} strokeWidth={1.5} aria-hidden />
      <Title>{title}</Title>
      <div className={classes.text}>{children}</div>
      {action}
    </Box>
  )
}

interface ErrorStateProps {
  error: Error
  onRetry?: () => void
  level?: 1 | 2
}

/** Shown instead of something that failed to load: why, and what to do. */
export function ErrorState({ error, onRetry, level = 2 }: ErrorStateProps) {
  const { title, advice } = explain(error)
  return (
    <div role="alert">
      <EmptyState
        icon={TriangleAlert}
        title={title}
        level={level}
        action={
          onRetry === undefined ? null : (
            <Button variant="default" leftSection={<RefreshCw size={16} aria-hidden />} onClick={onRetry}>
              Try again
            </Button>
          )
        }
      >
        {advice}
      </EmptyState>
    </div>
  )
}

/** Shown instead of a form that the user may not submit. */
export function MayNotChange() {
  const { seesAny } = useSession()
  if (!seesAny) {
    return (
      <EmptyState icon={LockKeyhole} title="You have no role yet">
        Ask an owner for one.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={LockKeyhole} title="You have read-only access">
      Changes need the editor role for the client: ask an owner of it, or sign in with the admin key.
    </EmptyState>
  )
}

interface InlineErrorProps {
  error: Error
  onRetry: () => void
  /** Height of what it replaces, px. */
  height: number
}

/** Shown instead of a chart that failed to load, at the same height, so that nothing else on the page moves. */
export function InlineError({ error, onRetry, height }: InlineErrorProps) {
  const { title, advice } = explain(error)
  return (
    <div role="alert" className={classes.error} style={{ minHeight: height }}>
      <p>
        <b>{title}.</b> {advice}
      </p>
      <Button variant="default" size="compact-sm" leftSection={<RefreshCw size={14} aria-hidden />} onClick={onRetry}>
        Try again
      </Button>
    </div>
  )
}

interface AwaitedProps {
  /** Why it does not come, or null while it may. */
  error: Error | null
  onRetry: () => void
  /** px, of the chart. */
  height: number
}

/** Shown until a chart or list is loaded: a skeleton while loading, a sentence and a button after a failure. */
export function Awaited({ error, onRetry, height }: AwaitedProps) {
  return error === null ? <Skeleton height={height} /> : <InlineError error={error} onRetry={onRetry} height={height} />
}

interface Props {
  error: Error
  /** The client in the page's address; empty for all. */
  client: string
  onShowAll: () => void
  onRetry: () => void
}

/** The error of a page that shows one client or all: another try does not find a client that does not exist. */
export function ClientErrorState({ error, client, onShowAll, onRetry }: Props) {
  const isGone =
    client !== '' && error instanceof ApiError && (error.status === 404 || error.fault('/client_id') !== undefined)
  if (!isGone) return <ErrorState error={error} onRetry={onRetry} />
  return (
    <div role="alert">
      <EmptyState
        icon={SearchX}
        title="Client not found"
        action={
          <Button variant="default" onClick={onShowAll}>
            Show all clients
          </Button>
        }
      >
        It may have been deleted or paused, or the link is incomplete.
      </EmptyState>
    </div>
  )
}
