import { Anchor } from '@mantine/core'
import type { MouseEvent } from 'react'
import { explain } from './error-words.ts'

/** Stands in one place of a row whose part could not be loaded. */
export function RowError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const { title, advice } = explain(error)
  const retry = (event: MouseEvent) => {
    // The row would open its page.
    event.stopPropagation()
    onRetry()
  }
  return (
    <Anchor component="button" type="button" size="sm" title={`${title}. ${advice}`} onClick={retry}>
      not loaded: try again
    </Anchor>
  )
}
