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
  /** `share` is an axis from 0 to 1, `rate` one that ends at 1 when the values come near. By default the axis fits the values. */
  scale?: 'share' | 'rate'
  /** Formats a value; by default as a count. */
  format?: (value: number) => string
  alerts?: readonly AlertSpan[]
  deploys?: readonly DeployMark[]
  /** The stretch that the user clicked, epoch ms; it stays while other charts are shown. */
  picked?: { from: number; to: number } | null
}

/** A change of a version at a moment, epoch ms. */
export interface DeployMark {
  at: number
  /** A few characters, such as "v42"; without it only the line is drawn. */
  label?: string
}

/** The time of an alert, epoch ms; `to` is null while it is unresolved. */
export interface AlertSpan {
  from: number
  to: number | null
  severity: 'warning' | 'critical'
}
