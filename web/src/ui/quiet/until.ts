import { momentOf, wallTime } from '../../lib/zone.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** When people are back at work. */
const MORNING = '09:00'

/** The ends of a silence that take one click. Times in epoch ms. */
export const SPANS: readonly { label: string; endOf: (now: number, zone: string) => number }[] = [
  { label: '1 hour', endOf: (now) => now + HOUR },
  { label: '4 hours', endOf: (now) => now + 4 * HOUR },
  { label: 'Until tomorrow, 09:00', endOf: tomorrowMorning },
]

/** Tomorrow at nine by the clocks of a zone. */
export function tomorrowMorning(now: number, zone: string): number {
  const noon = momentOf(`${wallTime(now, zone).slice(0, 10)}T12:00`, zone) ?? now
  const tomorrow = wallTime(noon + DAY, zone).slice(0, 10)
  return momentOf(`${tomorrow}T${MORNING}`, zone) ?? now + DAY
}
