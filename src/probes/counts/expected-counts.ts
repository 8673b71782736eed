import { expectationOf, type HourLimits, type UsualCounts } from '../../detection/index.ts'
import { HOUR } from '../../lib/index.ts'
import type { ExpectationContext, ExpectedCounts } from '../probe-type.ts'
import { siteEvents, wideningFeedback } from './site-events.ts'

/** More events are no help in a selection. */
const EVENTS_SHOWN = 100

/**
 * Returns what a probe expects of a site's events, or of one of them. Costs as much as a run of the probe, plus 0.13 ms an hour.
 *
 * @param weeks how many weeks to compare with
 */
export async function expectedCounts(
  { store, site, now, eventName, range }: ExpectationContext<unknown>,
  weeks: number,
  direction: ExpectedCounts['direction'],
  limitsOf: (usual: UsualCounts) => HourLimits,
): Promise<ExpectedCounts> {
  const { recent, usual, special } = await siteEvents({ store, site, now }, weeks)
  const expectation = expectationOf(eventName, { recent, usual }, limitsOf(usual), range)
  const isKnown = eventName === null || usual.names.includes(eventName)
  const { widening } = usual.of(eventName)
  return {
    ...expectation,
    widening,
    widenedBy: widening === 1 ? [] : await wideningFeedback(store.reports, site.id, eventName, now),
    // An event that never came has no known hours, which is not the same as expecting none.
    hours: isKnown ? expectation.hours : expectation.hours.map(({ from }) => ({ from, ...NOTHING_KNOWN })),
    events: usual.names.toSorted((a, b) => usual.of(b).hourly - usual.of(a).hourly).slice(0, EVENTS_SHOWN),
    learntDays: usual.days,
    special: special.filter(({ from, to }) => from < Math.max(range.to, now) && to > now - weeks * WEEK),
    direction,
  }
}

const NOTHING_KNOWN = { expected: null, low: null, high: null } as const
const WEEK = 168 * HOUR
