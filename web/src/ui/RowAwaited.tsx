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

/** Stands where a part of a row will be: grey while it is on its way, a button when it is not coming. */
export function RowAwaited({ error, onRetry, height, width }: Props) {
  if (error === null) return <Skeleton height={height} width={width} />
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
