import { Button } from '@mantine/core'
import { RefreshCw } from 'lucide-react'
import { explain } from './error-words.ts'
import classes from './InlineError.module.css'

interface Props {
  error: Error
  onRetry: () => void
  /** px, of what would stand here. */
  height: number
}

/** Stands in the place of one chart that could not be loaded, as high as it would be: nothing else on the page moves. */
export function InlineError({ error, onRetry, height }: Props) {
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
