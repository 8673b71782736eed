import { monthOf, nextMonthStart, SECOND } from '../lib/index.ts'
import type { Limits } from '../management/index.ts'

/** The limit of the plan that refused, and when to retry. */
export interface LimitRefusal {
  /** `rate`: requests came too fast. `quota`: the events are more than the month has left. */
  limit: 'rate' | 'quota'
  retryAfterSeconds: number
}

/** A client's usage of its quota at one moment, for `correctUsage`. */
export interface UsageSnapshot {
  readonly month: number
  readonly events: number
  readonly unsettled: number
}

/** A client's events of one month as far as this process knows. */
interface MonthBook {
  readonly month: number
  events: number
  /** Those among `events` whose commit has not settled. */
  unsettled: number
  /** `events` after the last `correctUsage`. */
  corrected: number
}

/** Months to remember: around the end of a month a clock may go back and forth. */
const MONTHS_KEPT = 3
/** Share of a quota from which it is nearly used up. */
const NEARLY_USED = 0.8
/** Share of a quota, taken since the last correction, from which the next is due. Each node may exceed the quota by this much. */
const MUCH_AT_ONCE = 0.01

/**
 * Counts one client's requests and events against its plan, over all its sites.
 *
 * Requests: a token bucket that holds one second's worth and fills at the plan's rate. Events: a UTC calendar month.
 *
 * Where several nodes take requests for the client, this one's bucket is cut to its share, in rate and in capacity. Together the
 * buckets are the one that the plan promises.
 */
export class ClientMeter {
  #limits: Limits
  #share = 1
  #tokens: number
  #filledAt: number
  #arrivals = 0
  #book: MonthBook
  /** The last months in which this meter was used, by number, including the current one. */
  readonly #books = new Map<number, MonthBook>()
  #hasNewEvents = false

  constructor(limits: Limits, now: number) {
    this.#limits = limits
    this.#tokens = this.#capacity()
    this.#filledAt = now
    this.#book = this.#open(monthOf(now))
  }

  get limits(): Limits {
    return this.#limits
  }

  /** This node's share of the rate, 0 to 1. */
  get share(): number {
    return this.#share
  }

  setLimits(limits: Limits): void {
    const wasUnlimited = this.#limits.requestsPerSecond === null
    this.#limits = limits
    // A rate that was unlimited starts with a full bucket, as in a new meter.
    this.#tokens = wasUnlimited ? this.#capacity() : Math.min(this.#tokens, this.#capacity())
  }

  /** A larger share fills faster from now on but adds no tokens now: they may still be in another node's bucket. */
  setShare(share: number): void {
    this.#share = share
    this.#tokens = Math.min(this.#tokens, this.#capacity())
  }

  /** Requests checked against the rate since the last call, including refused ones. */
  takeArrivals(): number {
    const arrivals = this.#arrivals
    this.#arrivals = 0
    return arrivals
  }

  /** Takes one request from the bucket, or says when to retry. Checks the quota but takes nothing from it. */
  takeRequest(now: number): LimitRefusal | undefined {
    const { requestsPerSecond: rate, eventsPerMonth } = this.#limits
    if (eventsPerMonth !== null) {
      if (this.#bookAt(now).events >= eventsPerMonth) return untilNextMonth(now)
    }
    if (rate === null) return undefined
    this.#arrivals++
    // A clock that was set back must not drain the bucket, and one set far ahead must not overfill it.
    const elapsed = Math.max(0, now - this.#filledAt)
    this.#tokens = Math.min(this.#capacity(), this.#tokens + (elapsed / SECOND) * rate * this.#share)
    this.#filledAt = now
    // Computed from the client's rate, not this node's share, which may change within a second.
    if (this.#tokens < 1) {
      return { limit: 'rate', retryAfterSeconds: Math.max(1, Math.ceil((1 - this.#tokens) / rate)) }
    }
    this.#tokens--
    return undefined
  }

  /** Takes `events` from the month's quota, or says when the next month starts. */
  takeEvents(events: number, now: number): LimitRefusal | undefined {
    const book = this.#bookAt(now)
    const limit = this.#limits.eventsPerMonth
    if (limit !== null && book.events + events > limit) return untilNextMonth(now)
    book.events += events
    book.unsettled += events
    this.#hasNewEvents = true
    return undefined
  }

  /** Events taken at `takenAt` are in the journal. */
  settleEvents(events: number, takenAt: number): void {
    const book = this.#books.get(monthOf(takenAt))
    if (book !== undefined) book.unsettled -= events
  }

  /** Returns events, taken at `takenAt`, whose commit failed or that were duplicates. */
  giveBackEvents(events: number, takenAt: number): void {
    const book = this.#books.get(monthOf(takenAt))
    if (book === undefined) return
    book.unsettled -= events
    book.events = Math.max(0, book.events - events)
  }

  /** Starts from what the store has counted in the month of `now`. */
  setUsage(events: number, now: number): void {
    this.#bookAt(now).events = events
  }

  /** Whether events were taken since the last call. */
  takeNewEvents(): boolean {
    const hadNewEvents = this.#hasNewEvents
    this.#hasNewEvents = false
    return hadNewEvents
  }

  /**
   * Whether what other nodes accepted may matter soon: little of the quota is left, or this node has taken much of it since the
   * last `correctUsage`, and others may have too.
   */
  isQuotaInSight(now: number): boolean {
    const limit = this.#limits.eventsPerMonth
    if (limit === null) return false
    const { events, corrected } = this.#bookAt(now)
    return events >= limit * NEARLY_USED || events - corrected >= limit * MUCH_AT_ONCE
  }

  /** Call before reading the store's count, for `correctUsage`. */
  snapshotUsage(now: number): UsageSnapshot {
    return { ...this.#bookAt(now) }
  }

  /**
   * Adopts what the store has counted for all nodes, plus what it cannot include yet.
   *
   * @param stored events of the month; includes all of this node's that had settled at `snapshot`, and none that settled later
   */
  correctUsage(stored: number, snapshot: UsageSnapshot): void {
    const book = this.#books.get(snapshot.month)
    if (book === undefined) return
    book.events = Math.max(0, stored + snapshot.unsettled + book.events - snapshot.events)
    book.corrected = book.events
  }

  /**
   * At least one token, so that a share below one request per second still lets one through now and then; a rate of 0 lets none
   * through.
   */
  #capacity(): number {
    const rate = (this.#limits.requestsPerSecond ?? 0) * this.#share
    return rate === 0 ? 0 : Math.max(1, rate)
  }

  /** Continues a month that was current before: a clock that goes back and forth resets no quota. */
  #bookAt(now: number): MonthBook {
    const month = monthOf(now)
    if (month !== this.#book.month) this.#book = this.#books.get(month) ?? this.#open(month)
    return this.#book
  }

  #open(month: number): MonthBook {
    const book: MonthBook = { month, events: 0, unsettled: 0, corrected: 0 }
    this.#books.set(month, book)
    const [oldest] = this.#books.keys()
    if (this.#books.size > MONTHS_KEPT && oldest !== undefined) this.#books.delete(oldest)
    return book
  }
}

const untilNextMonth = (now: number): LimitRefusal => ({
  limit: 'quota',
  retryAfterSeconds: Math.max(1, Math.ceil((nextMonthStart(now) - now) / SECOND)),
})
