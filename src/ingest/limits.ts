import { monthOf, nextMonthStart, SECOND } from '../lib/index.ts'
import type { Limits } from '../management/index.ts'

/** A refusal and how long to wait, in whole seconds. */
export interface Refusal {
  retryAfterSeconds: number
}

/** A client's use of its quota at one moment: what `correctUsage` needs to know of it. */
export interface UsageMark {
  readonly month: number
  readonly events: number
  readonly unsettled: number
}

/**
 * Counts one client's requests and events against its plan, over all its sites.
 *
 * Requests: a token bucket that holds one second's worth and fills at the plan's rate. Events: a UTC calendar month.
 *
 * Where several nodes answer for the client, this one's bucket is cut to its share: as many tokens in a second, and as many
 * at once. All buckets together are the one that the client was promised.
 */
export class ClientMeter {
  #limits: Limits
  #share = 1
  #tokens: number
  #filledAt: number
  #arrivals = 0
  #month: number
  #events = 0
  /** Of these events nobody knows yet whether they will be in the journal. */
  #unsettled = 0
  #hasNewEvents = false

  constructor(limits: Limits, now: number) {
    this.#limits = limits
    this.#tokens = this.#capacity()
    this.#filledAt = now
    this.#month = monthOf(now)
  }

  get limits(): Limits {
    return this.#limits
  }

  /** This node's part of the rate, 0 to 1. */
  get share(): number {
    return this.#share
  }

  setLimits(limits: Limits): void {
    const wasUnlimited = this.#limits.requestsPerSecond === null
    this.#limits = limits
    // From unlimited to limited: start with a full bucket, as a new meter does.
    this.#tokens = wasUnlimited ? this.#capacity() : Math.min(this.#tokens, this.#capacity())
  }

  /** A larger share fills faster from now on, and hands out nothing: those tokens may be in another node's bucket. */
  setShare(share: number): void {
    this.#share = share
    this.#tokens = Math.min(this.#tokens, this.#capacity())
  }

  /** Requests that the rate was asked about since the last call, refused ones included. */
  takeArrivals(): number {
    const arrivals = this.#arrivals
    this.#arrivals = 0
    return arrivals
  }

  /** Takes one request from the bucket, or says when to come back. The quota is only looked at. */
  takeRequest(now: number): Refusal | undefined {
    const { requestsPerSecond: rate, eventsPerMonth } = this.#limits
    if (eventsPerMonth !== null) {
      this.#startMonth(now)
      if (this.#events >= eventsPerMonth) return untilNextMonth(now)
    }
    if (rate === null) return undefined
    this.#arrivals++
    // A clock set back must not drain the bucket, nor one set far ahead overfill it.
    const elapsed = Math.max(0, now - this.#filledAt)
    this.#tokens = Math.min(this.#capacity(), this.#tokens + (elapsed / SECOND) * rate * this.#share)
    this.#filledAt = now
    // By the client's rate and not by this node's share of it, which is another one in a second.
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
    this.#unsettled += events
    this.#hasNewEvents = true
    return undefined
  }

  /** Events that were taken are in the journal. */
  settleEvents(events: number): void {
    this.#unsettled -= events
  }

  /** Gives back events whose commit failed, or that turned out to be counted before. */
  giveBackEvents(events: number): void {
    this.#unsettled -= events
    this.#events = Math.max(0, this.#events - events)
  }

  /** Starts from what the store has counted in the month of `now`. */
  setUsage(events: number, now: number): void {
    this.#month = monthOf(now)
    this.#events = events
  }

  /** Whether events were taken since the last call. */
  takeNewEvents(): boolean {
    const hadNewEvents = this.#hasNewEvents
    this.#hasNewEvents = false
    return hadNewEvents
  }

  /** To be called before the store's count is read, for `correctUsage`. */
  markUsage(now: number): UsageMark {
    this.#startMonth(now)
    return { month: this.#month, events: this.#events, unsettled: this.#unsettled }
  }

  /**
   * Takes over what the store has counted for all nodes, and adds what it cannot know of.
   *
   * @param stored events of the month, with all of this node's that were settled at the time of `mark` and none since
   */
  correctUsage(stored: number, mark: UsageMark, now: number): void {
    this.#startMonth(now)
    if (mark.month !== this.#month) return
    this.#events = Math.max(0, stored + mark.unsettled + this.#events - mark.events)
  }

  /** A share of less than one request in a second still has to let one through now and then; none lets none through. */
  #capacity(): number {
    const rate = (this.#limits.requestsPerSecond ?? 0) * this.#share
    return rate === 0 ? 0 : Math.max(1, rate)
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
