import { namesInWords } from '../../lib/index.ts'
import type { AlertRow } from '../../store/index.ts'
import type { AlertEvent } from './types.ts'

/** One more event is no news for an alert with so many already. */
const EVENTS_MAX = 100

/** The events that a tag was bad on since its alert opened, in the order in which that was seen. */
export const badEventsOf = ({ bad_events }: Pick<AlertRow, 'bad_events'>): readonly string[] =>
  JSON.parse(bad_events) as string[]

/**
 * Adds to `after` the events on which its tag is bad now and was not before. Events are only ever added: one that flaps causes one
 * message.
 */
export function widened(after: AlertRow, events: readonly string[]): AlertEvent[] {
  const known = badEventsOf(after)
  const more = events.filter((event) => !known.includes(event)).slice(0, EVENTS_MAX - known.length)
  if (more.length === 0) return []
  after.bad_events = JSON.stringify([...known, ...more])
  if (known.length > 0) return [{ kind: 'widened', actor: null, text: `Also on ${namesInWords(more)}` }]
  // An earlier version opened it and kept no events: those of its first result count as notified.
  if (after.announced_at !== null) after.told_events = more.length
  return []
}

/** Whether it has bad events that no message has named. */
export const isWider = (alert: AlertRow): boolean => alert.told_events < badEventsOf(alert).length
