/**
 * Longest that the event loop takes requests without a pause when all is well, ms. A request waits about that long in its
 * socket, and so does each message from the store's thread: an answer takes two to three of them.
 */
const BOUND_MS = 100
/** How long it has to go on before somebody is refused: catching up after a stall is no overload. */
const PATIENCE_MS = 250
/** Fewer requests without a pause are no crowd: what takes long then is something else, and refusing would not help. */
const CROWD = 500
/** Least share that is let in. A refusal costs a third of an answer: refusing more would leave no more room for the rest. */
const LEAST_SHARE = 0.25
/** Time in which the share grows from nothing to all, ms. */
const RECOVERY_MS = 1_000

/** Requests that were taken without a pause. */
interface Stretch {
  since: number
  requests: number
}

/**
 * Decides which requests are refused because more come than can be answered soon.
 *
 * What is too much for the process waits where it cannot be seen, in the sockets. But the event loop goes through all sockets
 * that have something before it turns to its timers: for how long it took requests without a pause tells how long the last of
 * them waited. While a disk is slow or the machine is held no requests are taken, so that nobody is refused for it.
 *
 * Times are ms of a clock that never jumps.
 */
export class Shedding {
  #stretch: Stretch | undefined
  /** Since when every stretch was too long. */
  #crowdedSince: number | undefined
  #pausedAt: number
  #share = 1
  /** Parts of a request that may still be let in. */
  #credit = 0

  constructor(now: number) {
    this.#pausedAt = now
  }

  /** To be called for each request. False: refuse it. */
  admits(now: number): boolean {
    this.#stretch ??= { since: now, requests: 0 }
    this.#stretch.requests++
    const share = this.#isOverload(this.#stretch, now) ? lessened(this.#share, this.#stretch, now) : this.#share
    if (share === 1) return true
    this.#credit += share
    if (this.#credit < 1) return false
    this.#credit -= 1
    return true
  }

  /** To be called whenever the event loop turns to its timers, many times a second. */
  pause(now: number): void {
    const stretch = this.#stretch
    if (stretch !== undefined && this.#isOverload(stretch, now)) this.#share = lessened(this.#share, stretch, now)
    else this.#share = Math.min(1, this.#share + (now - this.#pausedAt) / RECOVERY_MS)
    const wasCrowded = stretch !== undefined && isCrowded(stretch, now)
    this.#crowdedSince = wasCrowded ? (this.#crowdedSince ?? stretch.since) : undefined
    this.#stretch = undefined
    this.#pausedAt = now
  }

  /** Whether this stretch is too long, and those before it were for long enough. */
  #isOverload(stretch: Stretch, now: number): boolean {
    return isCrowded(stretch, now) && now - (this.#crowdedSince ?? stretch.since) > PATIENCE_MS
  }
}

const isCrowded = ({ since, requests }: Stretch, now: number): boolean => now - since > BOUND_MS && requests >= CROWD

const lessened = (share: number, { since }: Stretch, now: number): number =>
  Math.max(LEAST_SHARE, (share * BOUND_MS) / (now - since))
