import type { ReactNode } from 'react'
import classes from './Figures.module.css'
import { change, figure, type Kind } from './words.ts'

export interface FigureProps {
  name: ReactNode
  value: number | null
  kind: Kind
  /** Of the window before. */
  before?: number | null | undefined
  /** Under the number, where nothing is compared. */
  note?: string | undefined
  tone?: 'warning' | 'critical' | undefined
}

/** The numbers of a window, side by side. */
export function Figures({ label, children }: { label: string; children: ReactNode }) {
  return (
    <dl className={classes.figures} aria-label={label}>
      {children}
    </dl>
  )
}

export function Figure({ name, value, kind, before, note, tone }: FigureProps) {
  return (
    <div className={classes.figure}>
      <dt>{name}</dt>
      <dd>
        <b data-tone={tone}>{figure(value, kind)}</b>
        <span className={classes.note}>{change(value, before, kind) ?? note}</span>
      </dd>
    </div>
  )
}
