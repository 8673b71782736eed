import type { Leases } from '../cluster/index.ts'
import { asError, type Clock, Loop, MINUTE, newId, SECOND } from '../lib/index.ts'
import { channelsFailingSince, type OwnFailureMessage, type Transport } from '../notifications/index.ts'
import type { Outbound } from '../outbound/index.ts'
import type { Store } from '../store/index.ts'
import { type KnownFailure, type NodeHealth, type OwnFailure, ownFailuresIn, review } from './own-failures.ts'

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
  /** `CHAT_WEBHOOK_URL`: where own failures are sent; null: they are in the log only. */
  globalWebhook: string | null
  heartbeatUrl: string | null
  publicUrl: () => string
  onError: (error: Error, what: string) => void
}

/**
 * Watches over this process: notifies people of what fails in it, past the outbox, since the store may be the part that
 * fails; and asks `HEARTBEAT_URL` each minute while everything runs, so that another service notices when we are gone.
 */
export class SelfWatch {
  readonly loop: Loop
  readonly #options: SelfWatchOptions
  #known: KnownFailure[] = []
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

  async #check(): Promise<void> {
    const { clock, loops, writeTrouble, clockDoubt } = this.#options
    const now = clock.now()
    const failingChannels = await this.#failingChannels(now)
    const health: NodeHealth = { loops, writeTrouble: writeTrouble(), clockDoubt: clockDoubt(), failingChannels }
    const found = ownFailuresIn(health, now)
    const { known, begun, ended } = review(this.#known, found, now)
    // What could not be sent is kept as it was, and sent with the next check.
    const unsent: KnownFailure[] = []
    for (const failure of begun) failure.isNotified = await this.#notify('own_failure', failure, now)
    for (const failure of ended) {
      if (!(await this.#notify('own_recovery', failure, now))) unsent.push(failure)
    }
    this.#known = [...known, ...unsent]
    if (isAlive(found)) await this.#beat(now)
  }

  /** Reported on one node, the one that has the lease; null on the others, and while the store cannot be asked. */
  async #failingChannels(now: number): Promise<string[] | null> {
    const { store, leases } = this.#options
    try {
      if (!(await leases.claim('delivery-watch'))) return null
      return await channelsFailingSince(store, now - FAILING_MS)
    } catch {
      // A store that fails is reported as its own failure.
      return null
    }
  }

  /** Whether it was sent, or there is no one to notify. */
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
      message: { kind, part, message, since, node: nodeId },
      idempotencyKey: newId(),
      publicUrl: publicUrl(),
      at: now,
    }
    const outcome = await chat.send(order, AbortSignal.timeout(SEND_MS))
    return outcome.kind !== 'passing'
  }

  async #beat(now: number): Promise<void> {
    const { heartbeatUrl, outbound, onError } = this.#options
    if (heartbeatUrl === null || now - this.#beatAt < HEARTBEAT_INTERVAL_MS) return
    this.#beatAt = now
    try {
      const { status } = await outbound.request(heartbeatUrl, { maxRedirects: 3, limits: { totalMs: SEND_MS } })
      if (status >= 400) throw new Error(`HEARTBEAT_URL answers ${status}`)
    } catch (thrown) {
      onError(asError(thrown), 'heartbeat')
    }
  }
}

/** A chat server that fails, or a clock in doubt, is no reason to be taken for dead. */
const isAlive = (failures: readonly OwnFailure[]): boolean =>
  failures.every(({ part }) => part === 'deliveries' || part === 'clock')
