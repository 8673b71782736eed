import { UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'
import { SeriesSwatch } from '../../ui/SeriesSwatch.tsx'
import classes from './Legend.module.css'

export interface LegendRow {
  key: string
  name: string
  /** The series' colour token; absent for rows without a line. */
  token?: string | undefined
  value: ReactNode
  /** The value of the previous period, or the target. */
  reference?: string | undefined
  /** Added for screen readers: "of 42 executions". */
  title?: string
}

interface LegendProps {
  label: string
  /** The heading above the values. */
  heading?: string
  rows: readonly LegendRow[]
  /** Makes rows buttons. */
  onPick?: (key: string) => void
  /** The key of the picked row, when one always is. */
  picked?: string
}

/** The names of a chart with their numbers. */
export function Legend({ label, heading, rows, onPick, picked }: LegendProps) {
  return (
    <>
      {heading !== undefined && <div className={classes.heading}>{heading}</div>}
      <ul className={classes.legend} aria-label={label}>
        {rows.map((row) => (
          <li key={row.key}>
            {onPick === undefined ? (
              <div className={classes.row}>
                <Content row={row} />
              </div>
            ) : (
              <UnstyledButton
                className={classes.row}
                data-picks
                aria-pressed={picked === undefined ? undefined : picked === row.key}
                onClick={() => onPick(row.key)}
                title={row.title}
              >
                <Content row={row} />
              </UnstyledButton>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

function Content({ row: { name, token, value, reference } }: { row: LegendRow }) {
  return (
    <>
      {token === undefined ? <span className={classes.noSwatch} /> : <SeriesSwatch token={token} />}
      <span className={classes.name}>{name}</span>
      {reference !== undefined && <span className={classes.reference}>{reference}</span>}
      <b className={classes.value}>{value}</b>
    </>
  )
}

interface SeriesKeyProps {
  series: readonly { key: string; token?: string; isReference?: boolean }[]
}

/** Which line is which, in one row. */
export function SeriesKey({ series }: SeriesKeyProps) {
  return (
    <div className={classes.keys}>
      {series.map(({ key, token, isReference }) => (
        <span key={key}>
          {isReference === true ? <Dashes /> : <SeriesSwatch token={token ?? '--series-other'} />}
          {key}
        </span>
      ))}
    </div>
  )
}

/** A sample of the dashed reference line. */
function Dashes() {
  return (
    <svg width="10" height="10" aria-hidden="true">
      <path d="M0 5h10" stroke="var(--line-strong)" strokeWidth="2" strokeDasharray="4 2" />
    </svg>
  )
}
