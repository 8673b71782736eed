import { Button } from '@mantine/core'
import { RefreshCw, TriangleAlert } from 'lucide-react'
import { ApiError, UnreachableError } from '../api/client.ts'
import { EmptyState } from './EmptyState.tsx'

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

function explain(error: Error): { title: string; advice: string } {
  if (error instanceof UnreachableError) {
    return {
      title: 'Tagwarden cannot be reached',
      advice: 'Check that the service runs and that this device is online. Watching goes on without this page.',
    }
  }
  if (error instanceof ApiError) return explainAnswer(error)
  // A page whose code was replaced by a newer version.
  if (/dynamically imported module/i.test(error.message)) {
    return { title: 'This page has a newer version', advice: 'Reload the page to get it.' }
  }
  return {
    title: 'This page has a fault',
    advice: `Reload it. If that does not help, tell whoever runs Tagwarden: "${error.message}"`,
  }
}

function explainAnswer({ code, message, retryAfter }: ApiError): { title: string; advice: string } {
  switch (code) {
    case 'not_found':
      return { title: message, advice: 'It may have been deleted, or the link is incomplete.' }
    case 'forbidden':
      return { title: 'You may not see this', advice: `${message}. Sign in with a key that may.` }
    case 'rate_limited':
      return { title: 'Too many requests', advice: `${message}. Try again in ${retryAfter ?? 60} s.` }
    case 'unavailable':
      return { title: 'Tagwarden cannot answer now', advice: 'Its database is busy or away. It comes back by itself.' }
    case 'internal_error':
      return { title: 'Tagwarden has a fault', advice: "The service's log says more. Try again, or look there." }
    default:
      return { title: 'This cannot be shown', advice: message }
  }
}
