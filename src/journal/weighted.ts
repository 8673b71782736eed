import { Type } from 'typebox'
import { Delta, fieldsOf, SIGNAL, signalsIn } from './delta.ts'
import { addLog, appendSummedEvent, type Log } from './row.ts'

/** Small enough that no count leaves the numbers that JSON holds, but for execution times of years. */
const WEIGHT_MAX = 1_000

/** Events of its like that one stands for, where the sender sends one in so many. */
export const Weight = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: WEIGHT_MAX,
    description:
      'Events that this one stands for, for senders that send one in so many; left out: 1. It counts so many times',
  }),
)

/**
 * Appends an event that stands for `weight` of its like, as the sum of so many, and says how much less that proves than as many
 * events that were sent.
 *
 * @param one the event as one of it is appended
 */
export function appendWeighted(log: Log, one: Log, weight: number): void {
  const delta = new Delta()
  // An entry of no usage, in no minute: only its events are looked at.
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
