import { useId } from 'react'
import type { Status } from '../../api/overview.ts'
import classes from './status.module.css'
import { STATUS_WORDS } from './status.ts'

interface StatusMarkProps {
  status: Status
  /** Side in px. */
  size?: number
  /** The accessible name. Leave it out when the word is beside the mark. */
  label?: string
  /** `outline`: acknowledged. `hatched`: silenced, or under maintenance. */
  variant?: 'filled' | 'outline' | 'hatched'
}

/** A status as a shape, so that colour is not the only sign: circle, triangle, square, diamond, ring. */
export function StatusMark({ status, size = 12, label, variant = 'filled' }: StatusMarkProps) {
  const hatch = useId()
  const fill = { filled: 'currentColor', outline: 'none', hatched: `url(#${hatch})` }[variant]
  return (
    <svg
      className={classes.mark}
      data-status={status}
      width={size}
      height={size}
      viewBox="0 0 12 12"
      role="img"
      aria-label={label}
      aria-hidden={label === undefined}
    >
      {variant === 'hatched' && (
        <pattern id={hatch} width="3" height="3" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line x1="0" y1="0" x2="0" y2="3" stroke="currentColor" strokeWidth="2.4" />
        </pattern>
      )}
      <Shape status={status} fill={fill} />
    </svg>
  )
}

function Shape({ status, fill }: { status: Status; fill: string }) {
  const line = { fill, stroke: 'currentColor', strokeWidth: 1.5, strokeLinejoin: 'round' as const }
  switch (status) {
    case 'ok':
      return <circle cx="6" cy="6" r="4.25" {...line} />
    case 'warning':
      return <path d="M6 1.5 11 10.5 1 10.5Z" {...line} />
    case 'critical':
      return <rect x="1.75" y="1.75" width="8.5" height="8.5" {...line} />
    case 'error':
      return <path d="M6 1 11 6 6 11 1 6Z" {...line} />
    case 'unknown':
      return <circle cx="6" cy="6" r="4" {...line} fill="none" strokeWidth={2} />
  }
}

interface StatusBadgeProps {
  status: Status
  /** Replaces the status's own word. */
  children?: string | undefined
  variant?: 'filled' | 'outline' | 'hatched'
}

/** A status as its mark and its word. */
export function StatusBadge({ status, children, variant = 'filled' }: StatusBadgeProps) {
  return (
    <span className={classes.badge} data-status={status} data-variant={variant}>
      <StatusMark status={status} size={10} variant={variant} />
      {children ?? STATUS_WORDS[status]}
    </span>
  )
}
