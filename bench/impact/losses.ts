import { counted, type HourCounts, type Loss, localTime, lossOf, runsMissed } from '../../src/detection/index.ts'
import { type Fault, keptShare, shareIn } from '../detection/faults.ts'
import type { SiteHistory } from '../detection/history.ts'
import { volumeInputs } from '../detection/inputs/volume.ts'
import { SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../detection/world.ts'
import type { Window } from './windows.ts'

/** What a fault took, and what it is estimated to have taken. */
export interface Estimated {
  fault: Fault
  what: string
  truth: number
  loss: Loss
}

/** Losses of fewer are noise, whatever is done: no one acts on them. */
const LEAST_TRUTH = 10

/** What is estimated of a fault that was seen in a window, next to what it took. */
export function estimatesOf(fault: Fault, window: Window, history: SiteHistory): Estimated[] {
  const found = fault.tag === undefined ? eventLosses(fault, window, history) : tagLoss(fault, window, history)
  return found.filter(({ truth }) => truth >= LEAST_TRUTH)
}

function eventLosses(fault: Fault, { from, to }: Window, history: SiteHistory): Estimated[] {
  const { site } = history
  const at = Math.max(0, from)
  const { usual, recent } = volumeInputs(history, localTime(site.timezone))(at)
  const range = { from: timeOf(at), to: timeOf(to) }
  const input = { range, usual, before: recent, hours: hoursOf(history, { from: at, to }), outages: [] }
  const affected = fault.event === undefined ? null : new Set([fault.event])
  const names = fault.event === undefined ? [null, rarest(history)] : [fault.event]
  return names.flatMap((name) => {
    const loss = lossOf(name, input, affected)
    if (loss === null) return []
    const truth = site.events
      .filter((event) => name === null || event.name === name)
      .reduce((sum, event) => sum + takenOf(event.name, event.share, fault, history), 0)
    return [
      {
        fault,
        what: name === null ? 'all events' : fault.event === undefined ? 'rarest event' : 'one event',
        truth,
        loss,
      },
    ]
  })
}

/** By the traffic that was to be expected, faults left out. */
function takenOf(name: string, share: number, fault: Fault, { level }: SiteHistory): number {
  let taken = 0
  for (let slot = Math.floor(fault.from); slot < fault.to; slot++) {
    taken += (level[slot] ?? 0) * share * (1 - keptShare([fault], name, slot))
  }
  return taken
}

const rarest = ({ site }: SiteHistory): string =>
  site.events.toSorted((a, b) => a.share - b.share)[0]?.name ?? 'page_view'

function hoursOf({ events, total }: SiteHistory, { from, to }: Window): Map<number, HourCounts> {
  const hours = new Map<number, HourCounts>()
  for (let slot = from; slot < to; slot++) {
    const hour = timeOf(Math.floor(slot / SLOTS_AN_HOUR) * SLOTS_AN_HOUR)
    const known = hours.get(hour) ?? { total: 0, events: new Map<string, number>() }
    const byName = new Map(known.events)
    for (const [name, counts] of events) byName.set(name, (byName.get(name) ?? 0) + (counts[slot] ?? 0))
    hours.set(hour, { total: known.total + (total[slot] ?? 0), events: byName })
  }
  return hours
}

function tagLoss(fault: Fault, { from, to }: Window, { tags, events, site }: SiteHistory): Estimated[] {
  const tag = tags.find(({ tag: { key } }) => key === fault.tag)
  if (tag === undefined) return []
  const within = (series: Float64Array | undefined, start: number, end: number) => {
    let sum = 0
    for (let slot = Math.max(0, Math.floor(start)); slot < end; slot++) sum += series?.[slot] ?? 0
    return sum
  }
  if (fault.kind === 'tag_failing') {
    let truth = 0
    for (let slot = Math.floor(fault.from); slot < fault.to; slot++) {
      truth += (tag.executions[slot] ?? 0) * shareIn(fault, slot) * fault.size
    }
    const loss = counted(within(tag.bad, from, to), within(tag.executions, from, to))
    return [{ fault, what: 'executions', truth, loss }]
  }
  const names = fault.event === undefined ? [...tag.onEvent.keys()] : [fault.event]
  // Pairs are known by whole hours, and a tag that ran in its last is dated from its end.
  const [hour, end] = [Math.floor(from / SLOTS_AN_HOUR), Math.ceil(to / SLOTS_AN_HOUR)].map(
    (count) => count * SLOTS_AN_HOUR,
  )
  if (hour === undefined || end === undefined) return []
  const start = hour - SLOTS_AN_HOUR
  const losses = names.flatMap((name) => {
    const usually = {
      occurrences: within(events.get(name), start - 7 * SLOTS_A_DAY, start),
      runs: within(tag.onEvent.get(name), start - 7 * SLOTS_A_DAY, start),
    }
    const since = { occurrences: within(events.get(name), start, end), runs: within(tag.onEvent.get(name), start, end) }
    return runsMissed(since, usually) ?? []
  })
  const truth = names.reduce(
    (sum, name) =>
      sum +
      (tag.onEvent.has(name) ? (site.tags.find(({ key }) => key === fault.tag)?.coverage ?? 1) : 0) *
        within(events.get(name), fault.from, fault.to),
    0,
  )
  const add = (of: (loss: Loss) => number) => losses.reduce((sum, loss) => sum + of(loss), 0)
  const loss = {
    of: add((one) => one.of),
    lost: add((one) => one.lost),
    low: add((one) => one.low),
    high: add((one) => one.high),
  }
  return losses.length === 0 ? [] : [{ fault, what: 'executions', truth, loss }]
}
