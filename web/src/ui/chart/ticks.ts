import { dateFormat } from '../../lib/words.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'
import type { TimeChartData } from './points.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Round distances between ticks, ms. */
const WITHIN_A_DAY = [5, 10, 15, 30, 60, 120, 180, 240, 360, 720].map((minutes) => minutes * MINUTE)
const DAYS = [1, 2, 7, 14, 28, 91, 182]

/**
 * The ticks of a time axis: full hours or midnights in the site's zone, independent of the browser's zone and of clock changes.
 *
 * @param from start of the axis, epoch ms
 * @param most ticks
 */
export function timeTicks(from: number, to: number, zone: string, most: number): number[] {
  const step = WITHIN_A_DAY.find((distance) => (to - from) / distance <= most)
  return step === undefined ? dayTicks(from, to, zone, most) : clockTicks(from, to, zone, step)
}

/** Returns the label of a tick: the date at midnight, else the time. */
export function tickWriter(zone: string): (at: number) => string {
  const time = dateFormat(zone, { hour: '2-digit', minute: '2-digit' })
  const date = dateFormat(zone, { day: 'numeric', month: 'short' })
  return (at) => (isMidnight(at, zone) ? date.format(at) : time.format(at))
}

const isMidnight = (at: number, zone: string): boolean => wallTime(at, zone).endsWith('T00:00')

function clockTicks(from: number, to: number, zone: string, step: number): number[] {
  const ticks = new Set<number>()
  for (const day of localDays(from, to, zone)) {
    for (let passed = 0; passed < DAY; passed += step) {
      const clock = new Date(passed).toISOString().slice(11, 16)
      const at = momentOf(`${day}T${clock}`, zone)
      if (at !== null && at >= from && at <= to) ticks.add(at)
    }
  }
  return [...ticks].sort((a, b) => a - b)
}

function dayTicks(from: number, to: number, zone: string, most: number): number[] {
  const step = DAYS.find((days) => (to - from) / (days * DAY) <= most) ?? DAYS.at(-1) ?? 1
  return localDays(from, to, zone)
    .filter((day) => (Date.parse(day) / DAY) % step === 0)
    .flatMap((day) => {
      const at = momentOf(`${day}T00:00`, zone)
      return at !== null && at >= from && at <= to ? [at] : []
    })
}

/** The local days that a stretch of time touches, as `YYYY-MM-DD`. */
function localDays(from: number, to: number, zone: string): string[] {
  const last = wallTime(to, zone).slice(0, 10)
  const days: string[] = []
  for (let day = Date.parse(wallTime(from, zone).slice(0, 10)); ; day += DAY) {
    const name = new Date(day).toISOString().slice(0, 10)
    days.push(name)
    if (name >= last) return days
  }
}

/** Of an axis whose values cannot exceed `most`: one that ends at 120 % makes 100 % look like less than all, and one in steps of 30 % ends at 90 %. */
export const axisUpTo = (most: number) => ({
  splitNumber: 5,
  max: ({ max }: { max: number }) => (max > most / 2 ? most : null),
})

/** The ticks of the values. Bars count: between whole numbers, several ticks of a few events would be labelled 0 or 1. */
export const valueTicks = ({ kind, scale }: Pick<TimeChartData, 'kind' | 'scale'>) => ({
  splitNumber: 3,
  ...(kind === 'bars' && { minInterval: 1 }),
  ...(scale === 'rate' && axisUpTo(1)),
  ...(scale === 'share' && { min: 0, max: 1, interval: 0.25 }),
})
