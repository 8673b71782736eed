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
 * What this process knows about its own connection to the internet, from reference addresses that are hardly ever down:
 * - `blind`: none has answered since the start, or none answers while targets of probes do. They prove nothing.
 * - `open`: one answered when last asked.
 * - `away`: they answered before, none does now, and no target has since.
 */
export type Way = { state: 'blind' } | { state: 'open' } | { state: 'away'; since: number }

/** The references' answer: at least one answered, none did, or the failures say nothing about the connection. */
type Look = 'answered' | 'failed' | 'unclear'

/**
 * Returns the new state of the connection.
 *
 * @param askedAt when the references were asked
 * @param reachedAt when the latest run began whose target answered
 */
export function wayAfter(way: Way, look: Look, askedAt: number, reachedAt: number): Way {
  if (look === 'answered') return { state: 'open' }
  if (look === 'unclear' || way.state === 'blind') return way
  if (way.state === 'open') return { state: 'away', since: askedAt }
  // The references fail while targets answer: a firewall that lets only the targets through.
  return reachedAt > way.since ? { state: 'blind' } : way
}

/** A `wire` run, as far as the connection is concerned. */
export interface WireRun {
  beganAt: number
  /** It got no answer, through the target's fault or ours. */
  isUnanswered: boolean
}

export interface OwnConnectionOptions {
  /** Addresses to ask; when empty, our own connection is never the reason. */
  references: readonly string[]
  outbound: Outbound
  clock: Clock
  onError: (error: Error, what: string) => void
  /** Time that they have to answer, ms. */
  answerMs?: number
}

/** An alert may wait this long for the references. */
const ANSWER_MS = 3 * SECOND
/** Probes that fail within this time share one answer; later ones ask again. */
const FRESH_MS = 2 * SECOND
/** How often the references are asked while all is well. */
const EVERY_MS = 5 * MINUTE
/** How often they are asked while the connection is away. */
const AWAY_MS = 10 * SECOND

/** No one answered, which may be our connection. The other kinds of errors are about the request or this process. */
const NO_WAY: readonly OutboundErrorKind[] = [...UNREACHED, 'protocol']

/**
 * Tells a target that is down from our own connection being down: before a probe reports that its target does not answer, the
 * reference addresses are asked. Where no probe uses the network, it sends nothing.
 */
export class OwnConnection {
  /** Asks whether the connection is back. */
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

  /** Why `wire` probes judge nothing now; null when they do. */
  get doubt(): string | null {
    if (this.#way.state !== 'away') return null
    const hosts = this.#options.references.map((url) => new URL(url).host)
    return `This node has no connection to the internet: ${hosts.join(' and ')} ${hosts.length === 1 ? 'does' : 'do'} not answer, nor do the targets of probes`
  }

  /** Returns the outcome of a `wire` run, or an `error` in its place when our own connection was away. */
  async judge(outcome: ProbeOutcome, { beganAt, isUnanswered }: WireRun): Promise<ProbeOutcome> {
    if (this.#options.references.length === 0) return outcome
    if (!isUnanswered) {
      // An `error` may come from a run that sent no request.
      if (outcome.status === 'error') return outcome
      this.#reachedAt = Math.max(this.#reachedAt, beganAt)
      if (this.#way.state === 'away' || this.#isOlderThan(EVERY_MS)) this.#lookInBackground()
      return outcome
    }
    if (this.#way.state === 'blind') {
      // Whatever the references answer, this outcome stands.
      this.#lookInBackground()
      return outcome
    }
    if (this.#looking !== null) await this.#looking
    // An answer from before the run says nothing about it.
    if (this.#lookedAt < beganAt || this.#isOlderThan(FRESH_MS)) await this.#look()
    return this.#way.state === 'away' ? this.#ours(outcome, this.#way.since) : outcome
  }

  #isOlderThan(ms: number): boolean {
    return this.#options.clock.now() - this.#lookedAt >= ms
  }

  /** Asks without waiting for the answer. */
  #lookInBackground(): void {
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
      // A reference that we may not ask says nothing; the other one still counts.
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

/** Networks that require a sign-in redirect requests or answer 511. */
const isPortal = ({ status }: OutboundAnswer): boolean => (status >= 300 && status < 400) || status === 511
