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
