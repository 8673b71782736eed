import { Button } from '@mantine/core'
import { RefreshCw, TriangleAlert } from 'lucide-react'
import { EmptyState } from './EmptyState.tsx'
import { explain } from './error-words.ts'

interface Props {
  error: Error
  onRetry?: () => void
}

/** Stands where something could not be shown, says why, and what to do. */
export function ErrorState({ error, onRetry }: Props) {
  const { title, advice } = explain(error)
  return (
    <div role="alert">
      <EmptyState
        icon={TriangleAlert}
        title={title}
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
