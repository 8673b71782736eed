import { asError, type Clock, isoTime, Loop, MINUTE, SECOND } from '../lib/index.ts'
import {
  type Outbound,
  type OutboundAnswer,
  OutboundError,
  type OutboundErrorKind,
  UNREACHED,
} from '../outbound/index.ts'
import type { ProbeOutcome } from './probe-type.ts'

/**
 * What this process knows of its own way to the internet, by addresses that are hardly ever away:
 * - `blind`: none of them has answered since the start, or none does while targets of probes do. They prove nothing.
 * - `open`: one answered when they were asked last.
 * - `away`: they answered before, none does now, and no target has since.
 */
export type Way = { state: 'blind' } | { state: 'open' } | { state: 'away'; since: number }

/** How they answered: one of them did; none did; or what failed says nothing about the way. */
type Look = 'answered' | 'failed' | 'unclear'

/**
 * @param askedAt when they were asked
 * @param reachedAt when the last run began that got an answer of its target
 */
export function wayAfter(way: Way, look: Look, askedAt: number, reachedAt: number): Way {
  if (look === 'answered') return { state: 'open' }
  if (look === 'unclear' || way.state === 'blind') return way
  if (way.state === 'open') return { state: 'away', since: askedAt }
  // A firewall that lets nothing through but the targets looks the same at first.
  return reachedAt > way.since ? { state: 'blind' } : way
}

/** What a run on the network came to. */
export interface WireRun {
  beganAt: number
  /** It got no answer: the target's fault, or ours. */
  isUnanswered: boolean
}

export interface OwnConnectionOptions {
  /** Addresses that are asked; none: our own connection is never the reason. */
  references: readonly string[]
  outbound: Outbound
  clock: Clock
  onError: (error: Error, what: string) => void
  /** How long they have to answer, ms. */
  answerMs?: number
}

/** An alert waits no longer for this. */
const ANSWER_MS = 3 * SECOND
/** Of probes that fail one after the other each asks again; those of one moment share what was answered. */
const FRESH_MS = 2 * SECOND
/** How often it is made sure that they answer while all is well. */
const EVERY_MS = 5 * MINUTE
/** How often it is looked whether it is back. */
const AWAY_MS = 10 * SECOND

/** No one at the other end: that may be us. The other kinds are of what was asked, or of this process. */
const NO_WAY: readonly OutboundErrorKind[] = [...UNREACHED, 'protocol']

/**
 * Tells a target that is away from our own connection that is: before a probe says that its target does not answer, two addresses that
 * hardly ever fail are asked. It asks no one where no probe needs the network.
 */
export class OwnConnection {
  /** Looks whether the connection is back. */
  readonly loop: Loop
  readonly #options: OwnConnectionOptions
  #way: Way = { state: 'blind' }
  #lookedAt = Number.NEGATIVE_INFINITY
  #reachedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | null = null

  constructor(options: OwnConnectionOptions) {
    this.#options = options
    const { clock, onError } = options
    const tick = async () => {
      if (this.#way.state === 'away') await this.#look()
    }
    this.loop = new Loop({ name: 'own-connection', clock, intervalMs: AWAY_MS, tick, onError })
  }

  /** Why probes of the network judge nothing; null: they do. */
  get doubt(): string | null {
    if (this.#way.state !== 'away') return null
    const hosts = this.#options.references.map((url) => new URL(url).host)
    return `This node has no connection to the internet: ${hosts.join(' and ')} ${hosts.length === 1 ? 'does' : 'do'} not answer, nor do the targets of probes`
  }

  /** The outcome of a run on the network, or an `error` in its place when our own connection was away. */
  async judge(outcome: ProbeOutcome, { beganAt, isUnanswered }: WireRun): Promise<ProbeOutcome> {
    if (this.#options.references.length === 0) return outcome
    if (!isUnanswered) {
      // A check that could not be made need not have asked anyone.
      if (outcome.status === 'error') return outcome
      this.#reachedAt = Math.max(this.#reachedAt, beganAt)
      if (this.#way.state === 'away' || this.#isOlderThan(EVERY_MS)) this.#lookAside()
      return outcome
    }
    if (this.#way.state === 'blind') {
      // It would change nothing about this outcome.
      this.#lookAside()
      return outcome
    }
    if (this.#looking !== null) await this.#looking
    // What was answered before the run began says nothing about it.
    if (this.#lookedAt < beganAt || this.#isOlderThan(FRESH_MS)) await this.#look()
    return this.#way.state === 'away' ? this.#ours(outcome, this.#way.since) : outcome
  }

  #isOlderThan(ms: number): boolean {
    return this.#options.clock.now() - this.#lookedAt >= ms
  }

  /** Without waiting for it. */
  #lookAside(): void {
    this.#look().catch((thrown: unknown) => this.#options.onError(asError(thrown), 'own-connection'))
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    const askedAt = this.#options.clock.now()
    this.#lookedAt = askedAt
    const look = await this.#ask()
    this.#way = wayAfter(this.#way, look, askedAt, this.#reachedAt)
  }

  async #ask(): Promise<Look> {
    const { references, outbound, answerMs = ANSWER_MS } = this.#options
    const limits = { totalMs: answerMs, bodyBytes: 1_024 }
    try {
      await Promise.any(
        references.map(async (url) => {
          const answer = await outbound.request(url, { limits })
          if (isPortal(answer)) throw new OutboundError('protocol', 'something in between answered instead')
        }),
      )
      return 'answered'
    } catch (thrown) {
      const failures: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown]
      const kinds = failures.flatMap((failure) => (failure instanceof OutboundError ? failure.kind : []))
      // One that may not be asked says nothing; the other still does.
      const telling = kinds.filter((kind) => kind !== 'forbidden_address' && kind !== 'bad_url')
      return telling.length > 0 && telling.every((kind) => NO_WAY.includes(kind)) ? 'failed' : 'unclear'
    }
  }

  #ours({ message }: ProbeOutcome, since: number): ProbeOutcome {
    return {
      status: 'error',
      message: `Not judged: ${this.doubt ?? ''}`,
      details: { reason: 'own_connection', away_since: isoTime(since), found: message },
      isOurs: true,
    }
  }
}

/** Networks that want people to sign in first redirect what they ask, or answer 511. */
const isPortal = ({ status }: OutboundAnswer): boolean => (status >= 300 && status < 400) || status === 511
