import { RateLimitedError } from '../../http/index.ts'
import { type Clock, MINUTE, SECOND } from '../../lib/index.ts'

/** Addresses that open nothing, which a caller may try in a minute. */
const GUESSES_MAX = 30
/** Calls of one address that are written at once, and then one each second. */
const BURST = 10
/** Callers, and addresses, remembered at most; beyond it the one that came first goes. */
const REMEMBERED_MAX = 10_000

/**
 * What this node takes of calls. Who knows an address may write a row a second and no more; who guesses keeps neither the database nor, where the guesser's
 * address is shared with others, jobs that are known here from working.
 */
export class PushLimits {
  readonly #clock: Clock
  readonly #guesses = new Map<string, { since: number; count: number }>()
  readonly #tokens = new Map<string, { left: number; at: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Before a token is looked up.
   *
   * @param hash of the token
   * @throws RateLimitedError when the caller has tried too many that open nothing, and this one has not worked here lately
   */
  admit(caller: string, hash: string): void {
    if (this.#tokens.has(hash)) return
    const known = this.#guesses.get(caller)
    if (known === undefined || known.count < GUESSES_MAX) return
    const left = known.since + MINUTE - this.#clock.now()
    if (left > 0 && left <= MINUTE) {
      throw new RateLimitedError('Too many unknown addresses from here', Math.ceil(left / SECOND))
    }
    this.#guesses.delete(caller)
  }

  /** It opened nothing. */
  guessed(caller: string, hash: string): void {
    this.#tokens.delete(hash)
    const now = this.#clock.now()
    const known = this.#guesses.get(caller)
    const isOver = known === undefined || Math.abs(now - known.since) >= MINUTE
    remember(this.#guesses, caller, isOver ? { since: now, count: 1 } : { ...known, count: known.count + 1 })
  }

  /** It opened a probe. */
  known(hash: string): void {
    if (!this.#tokens.has(hash)) remember(this.#tokens, hash, { left: BURST, at: this.#clock.now() })
  }

  /** Before a call is written. @throws RateLimitedError when too many of this address were */
  write(hash: string): void {
    const now = this.#clock.now()
    const { left, at } = this.#tokens.get(hash) ?? { left: BURST, at: now }
    const filled = Math.min(BURST, left + Math.max(0, now - at) / SECOND)
    if (filled < 1) throw new RateLimitedError('Too many calls of this address', 1)
    remember(this.#tokens, hash, { left: filled - 1, at: now })
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest)
}
