import type { Payload } from '../../ingest/index.ts'
import { inBatches } from './batches.ts'
import { eventsOf, type Traffic } from './events.ts'

/** What a site's tag sends for the time from `from` until before `to`, in the order it is sent. */
export function payloadsOf(traffic: Traffic, from: number, to: number): Iterator<Payload> {
  const events = eventsOf(traffic, from, to)
  const { batchSize } = traffic.site
  return batchSize === null ? events : inBatches(events, batchSize)
}

/** When the tag sends it, epoch ms. */
export const sentAt = (payload: Payload): number =>
  payload.batch === true ? payload.window_end_ms : payload.timestamp_ms

/** Takes a site's payloads off piece by piece, so that no more than a piece of the history is in memory. */
export class PayloadReader {
  readonly #payloads: Iterator<Payload>
  #next: IteratorResult<Payload>

  constructor(payloads: Iterator<Payload>) {
    this.#payloads = payloads
    this.#next = payloads.next()
  }

  /** Those sent before `time`. */
  *takeUntil(time: number): Generator<Payload> {
    while (this.#next.done !== true && sentAt(this.#next.value) < time) {
      yield this.#next.value
      this.#next = this.#payloads.next()
    }
  }
}
