import { localTime } from '../../src/detection/index.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'
import type { SiteProfile } from './profile.ts'
import type { Random } from './random.ts'
import { SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from './world.ts'

/** 1 January 1970 was a Thursday; weekdays count from Monday. */
const WEEKDAY_OF_EPOCH = 3
/** How fast the level's drift within a day forgets: six hours. */
const DRIFT = Math.exp(-1 / (6 * SLOTS_AN_HOUR))

/** Page views expected in each slot, noise of the level included and faults not. */
export function levelOf(site: SiteProfile, random: Random): Float64Array {
  const clock = localTime(site.timezone)
  const [hourMean, dayMean] = [mean(site.hours), mean(site.weekdays)]
  const level = new Float64Array(SLOTS)
  let day = 1
  let drift = 0
  for (let slot = 0; slot < SLOTS; slot++) {
    if (slot % SLOTS_A_DAY === 0) day = Math.exp(site.dayNoise * random.normal())
    drift = DRIFT * drift + Math.sqrt(1 - DRIFT ** 2) * site.hourNoise * random.normal()
    const local = timeOf(slot) + clock.offsetAt(timeOf(slot))
    const hour = between(site.hours, (local % DAY) / HOUR) / hourMean
    const weekday = (site.weekdays[(Math.floor(local / DAY) + WEEKDAY_OF_EPOCH) % 7] ?? 1) / dayMean
    const localDay = Math.floor((local - timeOf(0)) / DAY)
    const special = [site.holidays, site.sales].map((days) =>
      specialLevel(days.get(localDay) ?? 1, (local % DAY) / HOUR),
    )
    const trend = site.trend ** (slot / SLOTS_A_DAY / 7)
    const isBorn = slot >= site.bornOn * SLOTS_A_DAY
    level[slot] = isBorn
      ? (site.daily / SLOTS_A_DAY) *
        hour *
        weekday *
        (special[0] ?? 1) *
        (special[1] ?? 1) *
        trend *
        day *
        Math.exp(drift)
      : 0
  }
  return level
}

/** A special day goes to its level between four and nine o'clock: who is awake at night does not know of holidays. */
const specialLevel = (level: number, hour: number): number => 1 + (level - 1) * Math.min(1, Math.max(0, (hour - 4) / 5))

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length

/** The value at a place between two, so that traffic does not jump at full hours. */
function between(values: readonly number[], place: number): number {
  const before = Math.floor(place)
  const from = values[before % values.length] ?? 0
  const to = values[(before + 1) % values.length] ?? 0
  return from + (to - from) * (place - before)
}
