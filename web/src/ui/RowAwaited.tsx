import { Anchor, Skeleton } from '@mantine/core'
import type { MouseEvent } from 'react'
import { explain } from './error-words.ts'

interface Props {
  /** Why it does not come, or null while it may. */
  error: Error | null
  onRetry: () => void
  height: number
  width: number | string
}

/** Not in the first load. Shown until a part of a row is loaded: a skeleton while loading, a button after a failure. */
export function RowAwaited({ error, onRetry, height, width }: Props) {
  if (error === null) return <Skeleton height={height} width={width} />
  const { title, advice } = explain(error)
  const retry = (event: MouseEvent) => {
    // A click on the row would open its page.
    event.stopPropagation()
    onRetry()
  }
  return (
    <Anchor component="button" type="button" size="sm" title={`${title}. ${advice}`} onClick={retry}>
      not loaded: try again
    </Anchor>
  )
}
