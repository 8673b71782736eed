import { DAY, HOUR } from '../../src/lib/index.ts'
import { Random } from '../../testkit/random.ts'
import { type Rates, SLOT } from './support.ts'

/** Visits of one to four events that come by chance, `busy` of them in five minutes of a day. */
export function visitsOf(seed: number, level: (time: number) => number, busy = 3.5): Rates {
  const known = new Map<number, number>()
  const came = (time: number): number => {
    const random = new Random(seed * 1e6 + time / SLOT)
    const hour = (time % DAY) / HOUR
    const mean = level(time) * (hour < 6 ? busy / 7 : busy)
    let [events, left] = [0, -Math.log(1 - random.next())]
    while (left < mean) {
      left -= Math.log(1 - random.next())
      events += 1 + random.below(4)
    }
    return events
  }
  return (time) => {
    const events = known.get(time) ?? came(time)
    known.set(time, events)
    return { page_view: events }
  }
}
