import { UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'
import { SeriesSwatch } from '../../ui/SeriesSwatch.tsx'
import classes from './Legend.module.css'

export interface LegendRow {
  key: string
  name: string
  /** Of the series' colour; none for what has no line. */
  token?: string | undefined
  value: ReactNode
  /** The period before, or the target. */
  reference?: string | undefined
  /** What a screen reader says besides: "of 42 executions". */
  title?: string
}

interface LegendProps {
  label: string
  /** What the values are, over them. */
  heading?: string
  rows: readonly LegendRow[]
  /** Makes rows buttons. */
  onPick?: (key: string) => void
  /** Marks the row that is picked, where one of them always is. */
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

/** As a reference is drawn. */
function Dashes() {
  return (
    <svg width="10" height="10" aria-hidden="true">
      <path d="M0 5h10" stroke="var(--line-strong)" strokeWidth="2" strokeDasharray="4 2" />
    </svg>
  )
}
