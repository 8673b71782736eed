/**
 * Longest time that a healthy event loop takes requests without a pause, ms. A request waits about that long in its socket, and
 * so does each of the two or three messages from the store's thread that an answer needs.
 */
const BOUND_MS = 100
/** How long overload has to last before requests are refused: catching up after a stall is not overload. */
const PATIENCE_MS = 250
/** With fewer requests than this without a pause, something else is slow, and refusing would not help. */
const CROWD = 500
/** Least share to admit. A refusal costs a third of an answer, so refusing more would gain no capacity for the rest. */
const LEAST_SHARE = 0.25
/** Time in which the share recovers from 0 to 1, ms. */
const RECOVERY_MS = 1_000

/** A period in which the event loop took requests without a pause. */
interface BusyPeriod {
  since: number
  requests: number
}

/**
 * Decides which requests to refuse when more arrive than the process can answer soon.
 *
 * The excess waits in the sockets, where the process cannot see it. But the event loop serves all readable sockets before it
 * turns to its timers, so the time for which it takes requests without a pause is about how long the last of them waited. While a
 * disk is slow or the machine is suspended, the loop takes no requests, so nothing is refused for that.
 *
 * Times are ms of a monotonic clock.
 */
export class Shedding {
  #period: BusyPeriod | undefined
  /** Since when every period has been too long. */
  #crowdedSince: number | undefined
  #pausedAt: number
  #share = 1
  /** Fraction of a request that may still be admitted. */
  #credit = 0

  constructor(now: number) {
    this.#pausedAt = now
  }

  /** Call for each request. Refuse it when this returns false. */
  admits(now: number): boolean {
    this.#period ??= { since: now, requests: 0 }
    this.#period.requests++
    const share = this.#isOverload(this.#period, now) ? lessened(this.#share, this.#period, now) : this.#share
    if (share === 1) return true
    this.#credit += share
    if (this.#credit < 1) return false
    this.#credit -= 1
    return true
  }

  /** Call whenever the event loop turns to its timers, many times a second. */
  pause(now: number): void {
    const period = this.#period
    if (period !== undefined && this.#isOverload(period, now)) this.#share = lessened(this.#share, period, now)
    else this.#share = Math.min(1, this.#share + (now - this.#pausedAt) / RECOVERY_MS)
    const wasCrowded = period !== undefined && isCrowded(period, now)
    this.#crowdedSince = wasCrowded ? (this.#crowdedSince ?? period.since) : undefined
    this.#period = undefined
    this.#pausedAt = now
  }

  /** Whether this period is too long, and the periods before it have been so for `PATIENCE_MS`. */
  #isOverload(period: BusyPeriod, now: number): boolean {
    return isCrowded(period, now) && now - (this.#crowdedSince ?? period.since) > PATIENCE_MS
  }
}

const isCrowded = ({ since, requests }: BusyPeriod, now: number): boolean => now - since > BOUND_MS && requests >= CROWD

const lessened = (share: number, { since }: BusyPeriod, now: number): number =>
  Math.max(LEAST_SHARE, (share * BOUND_MS) / (now - since))
