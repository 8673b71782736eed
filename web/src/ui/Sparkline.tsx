import { memo } from 'react'
import classes from './Sparkline.module.css'

interface Props {
  /** Counts of successive buckets, oldest first; the last one is not over and drawn lighter. */
  values: readonly number[]
  /** What it shows, in words, for screen readers. */
  label: string
}

const BAR = 3
const STEP = 4
const HEIGHT = 24
/** Minimum height of a bar that is not 0, px. */
const LEAST = 1.5

/** Small bars that show the shape of a day. The highest fills the height, so sites cannot be compared with each other. */
export const Sparkline = memo(function Sparkline({ values, label }: Props) {
  const most = Math.max(1, ...values)
  const width = values.length * STEP - (STEP - BAR)
  return (
    <svg
      className={classes.sparkline}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      <path className={classes.done} d={bars(values.slice(0, -1), 0, most)} />
      <path className={classes.underWay} d={bars(values.slice(-1), values.length - 1, most)} />
    </svg>
  )
})

/** One path for all bars, so that a thousand rows have a thousand elements instead of 24,000. A count of 0 is a thin line. */
function bars(values: readonly number[], first: number, most: number): string {
  return values
    .map((value, index) => {
      const height = value === 0 ? 0.5 : Math.max(LEAST, (value / most) * HEIGHT)
      const x = (first + index) * STEP
      return `M${x} ${HEIGHT}v${-height.toFixed(1)}h${BAR}V${HEIGHT}z`
    })
    .join('')
}
