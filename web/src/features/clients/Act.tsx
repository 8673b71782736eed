import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './form.module.css'

interface Props {
  title: string
  /** What it does, and whether it can be undone. */
  children: ReactNode
  /** On the button. */
  action: string
  isFinal?: boolean
  isBusy?: boolean
  onAct: () => void
}

/** Something with far-reaching consequences, what they are, and its button. */
export function Act({ title, children, action, isFinal = false, isBusy = false, onAct }: Props) {
  return (
    <div className={classes.act}>
      <div>
        <h3>{title}</h3>
        <p>{children}</p>
      </div>
      <Button
        variant={isFinal ? 'outline' : 'default'}
        {...(isFinal ? { color: 'danger' } : {})}
        loading={isBusy}
        onClick={onAct}
      >
        {action}
      </Button>
    </div>
  )
}
