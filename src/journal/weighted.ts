import { Type } from 'typebox'
import { Delta, fieldsOf, SIGNAL, signalsIn } from './delta.ts'
import { addLog, appendSummedEvent, type Log } from './row.ts'

/** Small enough that counts stay within the numbers that JSON holds exactly, except for execution times of years. */
const WEIGHT_MAX = 1_000

/** How many events one stands for, when the sender sends only one in so many. */
export const Weight = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: WEIGHT_MAX,
    description:
      'Number of events that this one stands for, from senders that send one in so many; 1 by default. It is counted that many times',
  }),
)

/**
 * Appends an event that stands for `weight` like it, as their sum. Also records in `weight_excess` how much less evidence that is
 * than so many events of their own.
 *
 * @param one the event as it is appended once
 */
export function appendWeighted(log: Log, one: Log, weight: number): void {
  const delta = new Delta()
  // An entry without usage and minute: only its events are read.
  addLog(delta, [0, 0, 0, 0, 0, 0, '', 1, ...one])
  for (const { events } of delta.site(0).cells) {
    for (const [name, event] of events) {
      event.counts.scale(weight)
      event.signals?.scale(weight)
      signalsIn(event).add(SIGNAL.weight_excess, weight * (weight - 1))
      for (const counts of fieldsOf(event).values()) counts.scale(weight)
      for (const { counts, signals } of event.tags.values()) {
        counts.scale(weight)
        signals?.scale(weight)
      }
      appendSummedEvent(log, name, event)
    }
  }
}
