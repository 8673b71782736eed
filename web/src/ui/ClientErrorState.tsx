import { Button } from '@mantine/core'
import { SearchX } from 'lucide-react'
import { ApiError } from '../api/client.ts'
import { EmptyState, ErrorState } from './States.tsx'

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
