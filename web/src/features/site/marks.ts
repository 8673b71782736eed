import type { AlertRecord } from '../../api/alerts.ts'
import type { AlertSpan } from '../../ui/chart/points.ts'
/** The spans of a window with an alert about the site; alerts about a failing check say nothing about its data. */
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

/** An ISO 8601 interval: two times separated by a slash. */
export const intervalOf = ({ from, to }: Stretch): string =>
  `${new Date(from).toISOString()}/${new Date(to).toISOString()}`

/** The stretch of an ISO 8601 interval; null for any other text. */
export function stretchOf(interval: string): Stretch | null {
  const [from = Number.NaN, to = Number.NaN] = interval.split('/').map((time) => Date.parse(time))
  return from < to ? { from, to } : null
}
