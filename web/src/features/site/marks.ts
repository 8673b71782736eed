import type { AlertRecord } from '../../api/alerts.ts'
import type { AlertSpan } from '../../ui/chart/time-chart-data.ts'
/** The stretches of a window with an open alert about the site; "the check fails" says nothing about its data. */
export function alertSpans(alerts: readonly AlertRecord[], from: number, to: number): AlertSpan[] {
  return alerts.flatMap(({ subject, severity, started_at, resolved_at }) => {
    const [start, end] = [Date.parse(started_at), resolved_at === null ? null : Date.parse(resolved_at)]
    if (subject === 'check' || start >= to || (end !== null && end <= from)) return []
    return [{ from: Math.max(start, from), to: end === null ? null : Math.min(end, to), severity }]
  })
}

/** A stretch of time, epoch ms. */
export interface Stretch {
  from: number
  to: number
}

/** As an interval of ISO 8601: two times with a slash between them. */
export const intervalOf = ({ from, to }: Stretch): string =>
  `${new Date(from).toISOString()}/${new Date(to).toISOString()}`

/** Null for what is no interval. */
export function stretchOf(interval: string): Stretch | null {
  const [from = Number.NaN, to = Number.NaN] = interval.split('/').map((time) => Date.parse(time))
  return from < to ? { from, to } : null
}
