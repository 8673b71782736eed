import type { TimeSeries } from './points.ts'

export interface TimeChartData {
  series: readonly TimeSeries[]
  /** Bars are stacked. */
  kind: 'bars' | 'lines'
  /** The ends of the axis, epoch ms: the same for all charts of a page. */
  from: number
  to: number
  /** IANA zone of the axis and the tooltip. */
  zone?: string
  /** `share`: an axis from 0 to 1, whatever the values are. `rate`: one that ends at 1 where they come near. By default it fits them. */
  scale?: 'share' | 'rate'
  /** Writes a value; counts without it. */
  format?: (value: number) => string
  alerts?: readonly AlertSpan[]
  deploys?: readonly DeployMark[]
  /** The stretch that the user clicked on, kept while looking at other charts. Epoch ms. */
  picked?: { from: number; to: number } | null
}

/** A change of a version at a moment, epoch ms. */
export interface DeployMark {
  at: number
  /** Few characters, such as "v42"; without it only the line is drawn. */
  label?: string
}

/** A stretch with an open alert. `to` null: it is still open. Times in epoch ms. */
export interface AlertSpan {
  from: number
  to: number | null
  severity: 'warning' | 'critical'
}
