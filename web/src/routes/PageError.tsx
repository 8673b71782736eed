import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorState } from '../ui/ErrorState.tsx'

/** Stands where a page was, when it threw. The rail and the top bar stay. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return <ErrorState error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
}
