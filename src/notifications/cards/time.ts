import { DAY, HOUR, MINUTE } from '../../lib/index.ts'

/** A length in ms as people say it: `less than a minute`, `42 min`, `2 h 10 min`, `3 days`. */
export function lengthInWords(length: number): string {
  if (length < MINUTE) return 'less than a minute'
  const minutes = Math.floor(length / MINUTE)
  if (length < 2 * HOUR) return `${minutes} min`
  if (length >= 2 * DAY) return `${Math.floor(length / DAY)} days`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

/** Times as people of one zone read them. The zone is named by its letters where it has any: `CET`, `EST`, else `GMT+5:30`. */
export class LocalTimes {
  readonly #zone: string

  /** @param zone IANA name; UTC for one that is not known here: a message goes out all the same */
  constructor(zone: string) {
    this.#zone = isZone(zone) ? zone : 'UTC'
  }

  /** `09:42 CET`; with the day where that is not the day of `at`, and the year where that differs too. */
  moment(time: number, at: number): string {
    return `${this.#bare(time, at)} ${this.#zoneOf(time)}`
  }

  /** `09:42 – 10:24 CET`; with days as in `moment`, that of the end where it is not the day of the beginning. */
  span(from: number, to: number, at: number): string {
    return `${this.#bare(from, at)} – ${this.moment(to, from)}`
  }

  /** `Fri 20 Nov 2026` */
  day(time: number): string {
    return this.#format(time, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }).replaceAll(',', '')
  }

  #bare(time: number, at: number): string {
    const clock = this.#format(time, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    if (this.day(time) === this.day(at)) return clock
    const date = this.#format(time, { day: 'numeric', month: 'short' })
    const [year, thisYear] = [time, at].map((moment) => this.#format(moment, { year: 'numeric' }))
    return `${date} ${year === thisYear ? '' : `${year} `}${clock}`
  }

  /** Each region's English knows the letters of its own zones only. */
  #zoneOf(time: number): string {
    const names = ['en-GB', 'en-US', 'en-AU'].map(
      (locale) =>
        new Intl.DateTimeFormat(locale, { timeZone: this.#zone, timeZoneName: 'short' })
          .formatToParts(time)
          .find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC',
    )
    return names.find((name) => !/\d/.test(name)) ?? names[0] ?? 'UTC'
  }

  #format(time: number, options: Intl.DateTimeFormatOptions): string {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: this.#zone }).format(time)
  }
}

/** `09:42 CET (42 min)` */
export const sinceWhen = (times: LocalTimes, since: number, at: number): string =>
  `${times.moment(since, at)} (${lengthInWords(at - since)})`

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
