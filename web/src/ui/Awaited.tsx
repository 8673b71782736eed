import { Skeleton } from '@mantine/core'
import { InlineError } from './InlineError.tsx'

interface Props {
  /** Why it does not come, or null while it may. */
  error: Error | null
  onRetry: () => void
  /** px, of the chart. */
  height: number
}

/** Stands where a chart or a list will be: grey while it is on its way, a sentence and a button when it is not coming. */
export function Awaited({ error, onRetry, height }: Props) {
  return error === null ? <Skeleton height={height} /> : <InlineError error={error} onRetry={onRetry} height={height} />
}
