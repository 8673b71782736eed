import { setImmediate } from 'node:timers/promises'
import type { LocalTime, TimeRange } from '../../detection/index.ts'
import { DAY, Yielder } from '../../lib/index.ts'
import type { SpecialDayRow } from '../../store/index.ts'

interface Holiday {
  /** Local date with the time of day. */
  readonly date: string
  readonly start: Date
  readonly end: Date
  readonly type: string
}

/** Public holidays of a country by year. */
type Calendar = (year: number) => Promise<readonly Holiday[]>

/**
 * Returns the public holidays in the country of a time zone, each from local midnight to local midnight. Empty when the zone belongs to no country.
 *
 * @param clock of that zone
 * @param range only holidays that overlap it
 */
export async function publicHolidays(timezone: string, clock: LocalTime, range: TimeRange): Promise<TimeRange[]> {
  const calendar = await calendarOf(timezone)
  if (calendar === null) return []
  const [first, last] = [range.from, range.to].map((time) => new Date(time + clock.offsetAt(time)).getUTCFullYear())
  const holidays: TimeRange[] = []
  for (let year = first ?? 0; year <= (last ?? 0); year++) {
    for (const { date, start, end } of await calendar(year)) {
      // `start` and `end` are in the time of the country's capital, so only the date is used.
      const begin = Date.parse(`${date.slice(0, 10)}T00:00:00Z`)
      const days = Math.max(1, Math.round((end.getTime() - start.getTime()) / DAY))
      holidays.push({ from: clock.instantOf(begin), to: clock.instantOf(begin + days * DAY) })
    }
  }
  return holidays.filter(({ from, to }) => from < range.to && to > range.from)
}

/** The days that people marked, each from local midnight to local midnight. */
export const markedDays = (
  days: readonly Pick<SpecialDayRow, 'first_day' | 'last_day'>[],
  clock: LocalTime,
): TimeRange[] =>
  days.map(({ first_day, last_day }) => ({
    from: clock.instantOf(Date.parse(first_day)),
    to: clock.instantOf(Date.parse(last_day) + DAY),
  }))

const calendars = new Map<string, Promise<Calendar | null>>()

function calendarOf(timezone: string): Promise<Calendar | null> {
  const known = calendars.get(timezone) ?? openCalendar(timezone)
  calendars.set(timezone, known)
  return known
}

async function openCalendar(timezone: string): Promise<Calendar | null> {
  // Takes 30 MB and 0.1 s, which a process that judges nothing does not need.
  const { default: Holidays } = await import('date-holidays')
  const country = await countryOf(timezone, Object.keys(new Holidays().getCountries()))
  if (country === null) return null
  const holidays = new Holidays(country)
  const years = new Map<number, readonly Holiday[]>()
  return async (year) => {
    const known = years.get(year)
    if (known !== undefined) return known
    // Computing a year takes 20 ms.
    await setImmediate()
    const worked = holidays.getHolidays(year).filter(({ type }) => type === 'public')
    years.set(year, worked)
    return worked
  }
}

/** The country of each zone, from the countries searched so far. The first country with a zone keeps it. */
const countryByZone = new Map<string, string>()
let countriesLookedThrough = 0

/**
 * Returns the country that a zone belongs to. Searching takes 0.5 ms for each of 200 countries, so it runs once in a process
 * and in pieces: in one piece, the first run of each zone kept every request waiting for 0.1 s.
 */
async function countryOf(timezone: string, countries: readonly string[]): Promise<string | null> {
  const others = new Yielder()
  const canonical = canonicalName(timezone)
  for (;;) {
    const found = countryByZone.get(timezone) ?? countryByZone.get(canonical)
    if (found !== undefined) return found
    const country = countries[countriesLookedThrough++]
    if (country === undefined) break
    for (const zone of zonesOf(country)) if (!countryByZone.has(zone)) countryByZone.set(zone, country)
    await others.spend(1)
  }
  // Names are first compared as they are: finding all canonical names takes as long as everything else here.
  for (const [zone, country] of [...countryByZone]) {
    if (canonicalName(zone) === canonical) return country
    await others.spend(1)
  }
  return null
}

const zonesOf = (country: string): readonly string[] => {
  const locale: Intl.Locale & { getTimeZones?: () => string[] | undefined } = new Intl.Locale(`und-${country}`)
  return locale.getTimeZones?.() ?? []
}

const canonicalName = (timeZone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
