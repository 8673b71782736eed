import { monthOf, nextMonthStart, SECOND } from '../lib/index.ts'
import type { Limits } from '../management/index.ts'

/** A refusal and how long to wait, in whole seconds. */
export interface Refusal {
  retryAfterSeconds: number
}

/**
 * Counts one client's requests and events against its plan, over all its sites.
 *
 * Requests: a token bucket that holds one second's worth and fills at the plan's rate. Events: a UTC calendar month.
 */
export class ClientMeter {
  #limits: Limits
  #tokens: number
  #filledAt: number
  #month: number
  #events: number

  constructor(limits: Limits, now: number) {
    this.#limits = limits
    this.#tokens = limits.requestsPerSecond ?? 0
    this.#filledAt = now
    this.#month = monthOf(now)
    this.#events = 0
  }

  /** Starts from what the store has counted in the month of `now`. */
  setUsage(events: number, now: number): void {
    this.#month = monthOf(now)
    this.#events = events
  }

  setLimits(limits: Limits): void {
    this.#tokens = Math.min(this.#tokens, limits.requestsPerSecond ?? 0)
    // From unlimited to limited: start with a full bucket, as a new meter does.
    if (this.#limits.requestsPerSecond === null) this.#tokens = limits.requestsPerSecond ?? 0
    this.#limits = limits
  }

  /** Takes one request from the bucket, or says when to come back. The quota is only looked at. */
  takeRequest(now: number): Refusal | undefined {
    const { requestsPerSecond: rate, eventsPerMonth } = this.#limits
    if (eventsPerMonth !== null) {
      this.#startMonth(now)
      if (this.#events >= eventsPerMonth) return untilNextMonth(now)
    }
    if (rate === null) return undefined
    // A clock set back must not drain the bucket, nor one set far ahead overfill it.
    const elapsed = Math.max(0, now - this.#filledAt)
    this.#tokens = Math.min(rate, this.#tokens + (elapsed / SECOND) * rate)
    this.#filledAt = now
    if (this.#tokens < 1) return { retryAfterSeconds: Math.max(1, Math.ceil((1 - this.#tokens) / rate)) }
    this.#tokens--
    return undefined
  }

  /** Takes `events` from the month's quota, or says when it starts anew. */
  takeEvents(events: number, now: number): Refusal | undefined {
    this.#startMonth(now)
    const limit = this.#limits.eventsPerMonth
    if (limit !== null && this.#events + events > limit) return untilNextMonth(now)
    this.#events += events
    return undefined
  }

  /** Gives back events whose commit failed, or that turned out to be counted before. */
  giveBackEvents(events: number): void {
    this.#events = Math.max(0, this.#events - events)
  }

  #startMonth(now: number): void {
    const month = monthOf(now)
    if (month === this.#month) return
    this.#month = month
    this.#events = 0
  }
}

const untilNextMonth = (now: number): Refusal => ({
  retryAfterSeconds: Math.max(1, Math.ceil((nextMonthStart(now) - now) / SECOND)),
})
