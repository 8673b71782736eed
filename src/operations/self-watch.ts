import type { Leases } from '../cluster/index.ts'
import { asError, type Clock, Loop, MINUTE, newId, SECOND } from '../lib/index.ts'
import {
  channelsFailingSince,
  type FailingChannel,
  type OwnFailureMessage,
  type Transport,
} from '../notifications/index.ts'
import type { Outbound } from '../outbound/index.ts'
import type { Store } from '../store/index.ts'

const CHECK_INTERVAL_MS = 10 * SECOND
const HEARTBEAT_INTERVAL_MS = MINUTE
const FAILING_MS = 15 * MINUTE
const SEND_MS = 10 * SECOND

export interface SelfWatchOptions {
  store: Store
  clock: Clock
  leases: Leases
  nodeId: string
  outbound: Outbound
  chat: Transport
  loops: readonly Loop[]
  writeTrouble: () => string | null
  clockDoubt: () => string | null
  connectionDoubt: () => string | null
  /** `CHAT_WEBHOOK_URL`, where own failures are sent; null to only log them. */
  globalWebhook: string | null
  heartbeatUrl: string | null
  publicUrl: () => string
  onError: (error: Error, what: string) => void
}

/**
 * Watches this process. It notifies people of its failures, bypassing the outbox, since the store may be what fails. It also
 * requests `HEARTBEAT_URL` each minute while everything runs, so that another service notices when we are gone.
 */
export class SelfWatch {
  readonly loop: Loop
  readonly #options: SelfWatchOptions
  readonly #stopping = new AbortController()
  #known: KnownFailure[] = []
  /** Failing channels as the store last reported them. */
  #failing: readonly FailingChannel[] | null = null
  #beatAt = Number.NEGATIVE_INFINITY

  constructor(options: SelfWatchOptions) {
    this.#options = options
    const { clock, onError } = options
    this.loop = new Loop({
      name: 'self-watch',
      clock,
      intervalMs: CHECK_INTERVAL_MS,
      tick: () => this.#check(),
      onError,
    })
  }

  /** Calls off requests that have no answer yet: one alone may take longer than the whole service has to stop. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.loop.stop()
  }

  async #check(): Promise<void> {
    const { clock, loops, writeTrouble, clockDoubt, connectionDoubt } = this.#options
    const now = clock.now()
    const health: NodeHealth = {
      loops,
      writeTrouble: writeTrouble(),
      clockDoubt: clockDoubt(),
      connectionDoubt: connectionDoubt(),
      failingChannels: await this.#failingChannels(now),
    }
    // Another node reports on channels from now on: that this one no longer does is no recovery.
    if (health.failingChannels === null) this.#known = this.#known.filter(({ part }) => part !== DELIVERIES)
    const found = ownFailuresIn(health, now)
    const { known, begun, ended } = review(this.#known, found, now)
    // A recovery that could not be sent is kept, and sent with the next check.
    const unsent: KnownFailure[] = []
    for (const failure of begun) failure.isNotified = await this.#notify('own_failure', failure, now)
    for (const failure of ended) {
      if (!(await this.#notify('own_recovery', failure, now))) unsent.push(failure)
    }
    this.#known = [...known, ...unsent]
    if (isAlive(found)) await this.#beat(now)
  }

  /** Failing channels on the node that has the lease; null on the others. */
  async #failingChannels(now: number): Promise<readonly FailingChannel[] | null> {
    const { store, leases } = this.#options
    try {
      const isOurs = await leases.claim('delivery-watch')
      this.#failing = isOurs ? await channelsFailingSince(store, now - FAILING_MS) : null
    } catch {
      // A failing store is reported as its own failure, and it does not mean that a channel has recovered: keep the last answer.
    }
    return this.#failing
  }

  /** Returns whether it was sent, or there is no one to notify. */
  async #notify(
    kind: OwnFailureMessage['kind'],
    { part, message, since }: KnownFailure,
    now: number,
  ): Promise<boolean> {
    const { globalWebhook, chat, nodeId, publicUrl, onError } = this.#options
    onError(new Error(message), kind === 'own_failure' ? 'self-watch' : 'self-watch: over')
    if (globalWebhook === null) return true
    const order = {
      address: globalWebhook,
      channel: 'global',
      message: { kind, part, message, since, node: nodeId },
      idempotencyKey: newId(),
      publicUrl: publicUrl(),
      at: now,
    }
    const outcome = await chat.send(order, AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(SEND_MS)]))
    return outcome.kind !== 'passing'
  }

  async #beat(now: number): Promise<void> {
    const { heartbeatUrl, outbound, onError } = this.#options
    if (heartbeatUrl === null || Math.abs(now - this.#beatAt) < HEARTBEAT_INTERVAL_MS) return
    this.#beatAt = now
    try {
      const { signal } = this.#stopping
      const { status } = await outbound.request(heartbeatUrl, { maxRedirects: 3, limits: { totalMs: SEND_MS }, signal })
      if (status >= 400) throw new Error(`HEARTBEAT_URL answers ${status}`)
    } catch (thrown) {
      if (!this.#stopping.signal.aborted) onError(asError(thrown), 'heartbeat')
    }
  }
}

const DELIVERIES = 'deliveries'

/** A failing chat service, a clock in doubt or an unavailable connection does not mean that the service is dead. */
const NOT_DEADLY: readonly string[] = [DELIVERIES, 'clock', 'connection']
const isAlive = (failures: readonly OwnFailure[]): boolean => failures.every(({ part }) => NOT_DEADLY.includes(part))

/** A failure of Tagwarden itself. */
export interface OwnFailure {
  /** `store`, `clock`, `connection`, `deliveries`, or `loop:NAME`. */
  part: string
  message: string
  /** When it began, where that is known: some are seen only after a while. */
  began?: number
}

/** The state of this node at one time. */
export interface NodeHealth {
  loops: readonly Pick<Loop, 'name' | 'intervalMs' | 'lagMs'>[]
  /** Why the store accepts no writes, or null. */
  writeTrouble: string | null
  /** Why nothing is deleted by age, or null. */
  clockDoubt: string | null
  /** Why probes that need the network judge nothing, or null. */
  connectionDoubt: string | null
  /** Channels that have failed for long, the longest first; null when another node reports them. */
  failingChannels: readonly FailingChannel[] | null
}

/** A loop may be late by this much, or by five of its intervals, whichever is more: roll-ups after a start take time, ms. */
const LATE_MS = 2 * MINUTE
const LATE_INTERVALS = 5
/** How long a failure lasts before a message is sent, ms: a restart of the database is not worth one. */
const LASTS_MS = MINUTE

export function ownFailuresIn(
  { loops, writeTrouble, clockDoubt, connectionDoubt, failingChannels }: NodeHealth,
  now: number,
): OwnFailure[] {
  const late = loops.flatMap((loop) => lateness(loop.name, loop.intervalMs, loop.lagMs(), now))
  const store =
    writeTrouble === null ? [] : [{ part: 'store', message: `The store accepts no writes: ${writeTrouble}` }]
  const clock = clockDoubt === null ? [] : [{ part: 'clock', message: clockDoubt }]
  const connection = connectionDoubt === null ? [] : [{ part: 'connection', message: connectionDoubt }]
  return [...store, ...clock, ...connection, ...late, ...deliveryFailure(failingChannels ?? [])]
}

function lateness(name: string, intervalMs: number, lagMs: number, now: number): OwnFailure[] {
  if (lagMs <= Math.max(LATE_MS, LATE_INTERVALS * intervalMs)) return []
  return [{ part: `loop:${name}`, message: `The background job “${name}” is stuck or slow`, began: now - lagMs }]
}

function deliveryFailure([first, ...others]: readonly FailingChannel[]): OwnFailure[] {
  if (first === undefined) return []
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return [{ part: DELIVERIES, message: `Messages do not get through: ${first.words}${more}`, began: first.since }]
}

/** A failure that this node knows about, and whether people do. */
export interface KnownFailure extends OwnFailure {
  since: number
  foundAt: number
  isNotified: boolean
  /** It has lasted long enough for a message, which may not have got through: without a connection none does. */
  isDue: boolean
}

/** The failures known now, and the messages that are due. */
interface Review {
  known: KnownFailure[]
  /** Due, but not notified yet. */
  begun: KnownFailure[]
  /** Resolved ones that were notified, or were due but did not get through. */
  ended: KnownFailure[]
}

export function review(before: readonly KnownFailure[], found: readonly OwnFailure[], now: number): Review {
  const known = found.map((failure): KnownFailure => {
    const earlier = before.find(({ part }) => part === failure.part)
    const { since, foundAt, isNotified } = earlier ?? { since: failure.began ?? now, foundAt: now, isNotified: false }
    return { ...failure, since, foundAt, isNotified, isDue: now - foundAt >= LASTS_MS }
  })
  const isOver = ({ part }: KnownFailure) => !found.some((failure) => failure.part === part)
  return {
    known,
    begun: known.filter(({ isNotified, isDue }) => !isNotified && isDue),
    ended: before.filter((failure) => (failure.isNotified || failure.isDue) && isOver(failure)),
  }
}
