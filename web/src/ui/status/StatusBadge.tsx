import type { Status } from '../../api/overview.ts'
import { StatusMark } from './StatusMark.tsx'
import classes from './status.module.css'
import { STATUS_WORDS } from './status.ts'

interface Props {
  status: Status
  /** Instead of the status's own word. */
  children?: string | undefined
  variant?: 'filled' | 'outline' | 'hatched'
}

/** A status as its mark and its word. */
export function StatusBadge({ status, children, variant = 'filled' }: Props) {
  return (
    <span className={classes.badge} data-status={status} data-variant={variant}>
      <StatusMark status={status} size={10} variant={variant} />
      {children ?? STATUS_WORDS[status]}
    </span>
  )
}
