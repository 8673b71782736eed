import { sql } from 'kysely'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import type { ServiceKind } from './services/services.ts'
import type { SendOutcome } from './transport.ts'

/** Observes the outcomes of messages; for metrics. */
export interface NotificationsWatch {
  /** An attempt has ended, of a message or of a group of them. */
  onOutcome?: (service: ServiceKind, outcome: SendOutcome['kind']) => void
  /** This many messages were given up. */
  onGivenUp?: (count: number) => void
}

interface DeliveryMetricsOptions {
  store: Store
  clock: Clock
  watch: (watch: NotificationsWatch) => void
}

export function deliveryMetrics(registry: Registry, { store, clock, watch }: DeliveryMetricsOptions): void {
  const registers = [registry]
  const attempts = new Counter({
    name: 'tagwarden_delivery_attempts_total',
    help: 'Attempts of this node to send a message, by outcome',
    labelNames: ['service', 'outcome'],
    registers,
  })
  const givenUp = new Counter({
    name: 'tagwarden_deliveries_given_up_total',
    help: 'Messages that this node gave up on after 24 hours',
    registers,
  })
  watch({
    onOutcome: (service, outcome) => attempts.labels({ service, outcome }).inc(),
    onGivenUp: (count) => givenUp.inc(count),
  })
  new Gauge({
    name: 'tagwarden_deliveries_pending',
    help: 'Messages waiting to be sent, including those held back to be combined',
    registers,
    async collect() {
      this.reset()
      const found = await pending(store).catch(() => undefined)
      if (found !== undefined) this.set(Number(found.count))
    },
  })
  new Gauge({
    name: 'tagwarden_delivery_oldest_pending_seconds',
    help: 'Age of the oldest message waiting to be sent, from when it may be sent; 0 when there is none',
    registers,
    async collect() {
      this.reset()
      const found = await pending(store).catch(() => undefined)
      if (found !== undefined) this.set(found.oldest === null ? 0 : Math.max(0, clock.now() - found.oldest) / 1_000)
    },
  })
  new Gauge({
    name: 'tagwarden_channels_off',
    help: 'Channels that are off until their address is edited',
    registers,
    async collect() {
      this.reset()
      const found = await channelsOff(store).catch(() => undefined)
      if (found !== undefined) this.set(Number(found.count))
    },
  })
}

const pending = ({ read }: Store) =>
  read
    .selectFrom('deliveries')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min<number | null>('not_before').as('oldest')])
    .where(sql<boolean>`state = 'pending'`)
    .executeTakeFirstOrThrow()

const channelsOff = ({ read }: Store) =>
  read
    .selectFrom('channels')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('off_since', 'is not', null)
    .executeTakeFirstOrThrow()
