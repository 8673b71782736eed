import type { Registry } from 'prom-client'
import { type Expiry, Jobs, type Leases, type Membership } from '../cluster/index.ts'
import { asError, type Clock, type Loop, MINUTE, newOrderedId } from '../lib/index.ts'
import type { DeletionHooks } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { type Channel, type ChannelSettings, kindOf, noteSuccess } from './channel.ts'
import {
  ATTEMPT_MS,
  type DeliveredHook,
  type DeliveryTimings,
  type DeliveryTools,
  OWN_FAULT,
  sendWithin,
} from './delivery/attempt.ts'
import { backoffMs } from './delivery/schedule.ts'
import { Delivery } from './delivery/sender.ts'
import { removeReaders } from './digest-readers.ts'
import { forgetDeletedChannels, removeMessagesOfClient } from './farewell.ts'
import type { Message } from './message.ts'
import { deliveryMetrics, type NotificationsWatch } from './metrics.ts'
import { clearDeliveries } from './outbox.ts'
import type { SendOutcome, Transports } from './transport.ts'

const RETENTION_INTERVAL_MS = 10 * MINUTE
const STORE_RETRY_MS = 1_000

export interface NotificationsOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  /** Tells which messages are too old to be tried any longer; the clock by default. */
  expiry?: Expiry
  transports: Transports
  /** `CHAT_WEBHOOK_URL`. */
  globalWebhook: string | null
  /** How long a warning must last before people are notified of it, ms; at once when 0 or missing. */
  warningsAfterMs?: number
  /** `PUBLIC_URL` without a trailing slash. Read for each message, because it is known only once the service listens. */
  publicUrl: () => string
  /** Days that messages are kept after they were sent or given up. */
  resultDays: number
  onError: (error: Error, what: string) => void
  /** Returns what else to write when messages about alerts were delivered. */
  onDelivered?: DeliveredHook
  /** Returns a number between 0 and 1. */
  random?: () => number
  timings?: Partial<DeliveryTimings>
}

/** The part of a process that sends the messages in the outbox and deletes old ones. */
export class Notifications {
  /** Messages about alerts are deleted by the alerts' hooks. */
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfClient'> = {
    removeOfClient: async (trx, clientId) => {
      await removeMessagesOfClient(trx, clientId)
      await removeReaders(trx, clientId)
    },
  }
  readonly #tools: DeliveryTools
  readonly #delivery: Delivery
  readonly #jobs: Jobs
  readonly #watches: NotificationsWatch[] = []
  readonly #stopping = new AbortController()

  constructor(options: NotificationsOptions) {
    const { store, clock, membership, leases, transports, globalWebhook, publicUrl, resultDays, onError } = options
    this.#tools = {
      store,
      clock,
      membership,
      transports,
      channelSettings: {
        globalWebhook,
        isEmailOn: transports.email !== null,
        warningsAfterMs: options.warningsAfterMs ?? 0,
      },
      publicUrl,
      random: options.random ?? Math.random,
      timings: { ...ATTEMPT_MS, storeRetryMs: STORE_RETRY_MS, backoffMs, ...options.timings },
      onError,
      onDelivered: options.onDelivered ?? (() => []),
      onOutcome: (service, outcome) => {
        for (const { onOutcome } of this.#watches) onOutcome?.(service, outcome)
      },
    }
    this.#delivery = new Delivery({
      ...this.#tools,
      membership,
      expiry: options.expiry ?? { expiryTime: () => clock.now() },
      onGivenUp: (count) => {
        for (const { onGivenUp } of this.#watches) onGivenUp?.(count)
      },
    })
    this.#jobs = new Jobs({ clock, leases, onError }).deletingByAge(
      'delivery-retention',
      RETENTION_INTERVAL_MS,
      async (now, shouldContinue) => {
        await clearDeliveries(store, resultDays, now, shouldContinue)
        await forgetDeletedChannels(store)
      },
    )
  }

  get loops(): readonly Loop[] {
    return [this.#delivery.loop, ...this.#jobs.loops]
  }

  /** Where messages go besides the clients' addresses, for `channelsOf`. */
  get channelSettings(): ChannelSettings {
    return this.#tools.channelSettings
  }

  registerMetrics(registry: Registry): void {
    const { store, clock } = this.#tools
    deliveryMetrics(registry, { store, clock, watch: (watch) => this.watch(watch) })
  }

  watch(watch: NotificationsWatch): void {
    this.#watches.push(watch)
  }

  start(): void {
    for (const loop of this.loops) loop.start()
  }

  /** Call it after a transaction that wrote messages; otherwise they are found within 1 s. */
  wake(): void {
    this.#delivery.wake()
  }

  /**
   * Sends a message now and once, bypassing the outbox. If it gets through, the channel is switched on again.
   *
   * @throws StoreError
   */
  async sendNow({ key, address }: Channel, message: Message): Promise<SendOutcome> {
    const { store, clock, publicUrl, onOutcome, onError } = this.#tools
    const kind = kindOf(key, address)
    const at = clock.now()
    const order = { address, channel: key, message, idempotencyKey: newOrderedId(at), publicUrl: publicUrl(), at }
    const outcome = await sendWithin(this.#tools, kind, order, this.#stopping.signal).catch((thrown: unknown) => {
      onError(asError(thrown), `sending a message over ${key}`)
      return OWN_FAULT
    })
    if (outcome === null) return { kind: 'passing', error: 'the service stops' }
    onOutcome(kind, outcome.kind)
    if (outcome.kind === 'delivered') await noteSuccess(store, { key, address }, clock.now())
    return outcome
  }

  /** Sends all that can be sent now, for tests. */
  async run(): Promise<void> {
    await this.#delivery.run()
  }

  /**
   * Stops sending.
   *
   * @param graceMs time that attempts under way get to finish, ms
   */
  async stop(graceMs?: number): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#jobs.stop(), this.#delivery.stop(graceMs)])
  }
}
