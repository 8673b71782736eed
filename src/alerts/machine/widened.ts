import { namesInWords } from '../../lib/index.ts'
import type { AlertRow } from '../../store/index.ts'
import type { AlertEvent } from './types.ts'

/** An alert that is bad on so many events already does not become news by one more. */
const EVENTS_MAX = 100

/** The events that a tag was bad on since its alert opened, in the order in which that was seen. */
export const badEventsOf = ({ bad_events }: Pick<AlertRow, 'bad_events'>): readonly string[] =>
  JSON.parse(bad_events) as string[]

/**
 * Adds to `after` the events on which its tag is bad now and was not before. They are only ever added: one that comes and goes is
 * told of once.
 */
export function widened(after: AlertRow, events: readonly string[]): AlertEvent[] {
  const known = badEventsOf(after)
  const more = events.filter((event) => !known.includes(event)).slice(0, EVENTS_MAX - known.length)
  if (more.length === 0) return []
  after.bad_events = JSON.stringify([...known, ...more])
  if (known.length > 0) return [{ kind: 'widened', actor: null, text: `Also on ${namesInWords(more)}` }]
  // Of an alert that an earlier version opened nobody knows which events were told of: those of its first result are.
  if (after.announced_at !== null) after.told_events = more.length
  return []
}

/** Whether there are bad events that no message has told of. */
export const isWider = (alert: AlertRow): boolean => alert.told_events < badEventsOf(alert).length
