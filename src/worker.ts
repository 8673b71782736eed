import { Alerts, noteDelivered } from './alerts/index.ts'
import { tagVendorHooks } from './analytics/index.ts'
import { type Expiry, Jobs, type Leases, type Membership } from './cluster/index.ts'
import type { Config } from './config.ts'
import { Digests } from './digests/index.ts'
import { OrphanFolding } from './journal/index.ts'
import { type Clock, Closers, DAY, HOUR, type Loop, MINUTE } from './lib/index.ts'
import { clearAudit, clearKeys, type DeletionHooks, hooksInOrder } from './management/index.ts'
import { type Mailer, Notifications, type Transports } from './notifications/index.ts'
import type { Outbound } from './outbound/index.ts'
import { Probes, type ProbesOptions } from './probes/index.ts'
import { Quotas } from './quotas/index.ts'
import { Maintenance } from './rollups/index.ts'
import { Subscriptions } from './sharing/index.ts'
import type { Store } from './store/index.ts'
import { Uptime } from './uptime/index.ts'

export interface WorkerOptions {
  config: Config
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  expiry: Expiry
  outbound: Outbound
  transports: Transports
  /** Null where e-mail is not set up. */
  mailer: Mailer | null
  /** The address of the service for people; known once it listens. */
  publicUrl: () => string
  noteOutage?: ProbesOptions['noteOutage']
  onError: (error: Error, what: string) => void
}

/** Everything a node does besides ingest: upkeep of the counts, probes, alerts and messages. */
export class Worker {
  readonly probes: Probes
  readonly alerts: Alerts
  readonly notifications: Notifications
  readonly #orphans: OrphanFolding
  readonly #maintenance: Maintenance
  readonly #digests: Digests
  readonly #quotas: Quotas
  readonly #uptime: Uptime
  readonly #subscriptions: Subscriptions
  readonly #auditRetention: Jobs

  constructor({ config, transports, mailer, publicUrl, ...node }: WorkerOptions) {
    const { retentionResultDays: resultDays, chatWebhookUrl: globalWebhook, keyEvents } = config
    const retention = retentionOf(config)
    this.#orphans = new OrphanFolding(node)
    this.#maintenance = new Maintenance({ ...node, retention })
    const onDelivered = noteDelivered(node.store)
    const warningsAfterMs = config.notifyWarningsAfterMinutes * MINUTE
    this.notifications = new Notifications({
      ...node,
      transports,
      globalWebhook,
      warningsAfterMs,
      publicUrl,
      resultDays,
      onDelivered,
    })
    const { channelSettings } = this.notifications
    this.alerts = new Alerts({ ...node, channelSettings, keyEvents, resultDays })
    const { connectionCheckUrls } = config
    const { onResults } = this.alerts
    this.probes = new Probes({ ...node, settings: config, connectionCheckUrls, resultDays, onResults })
    this.#digests = new Digests({ ...node, retention, isEmailOn: channelSettings.isEmailOn })
    this.#quotas = new Quotas({ ...node, channelSettings })
    this.#uptime = new Uptime({ ...node, retention })
    this.#subscriptions = new Subscriptions({ ...node, mailer, publicUrl })
    this.#auditRetention = new Jobs(node).deletingByAge('audit-retention', HOUR, async (now, shouldContinue) => {
      await clearKeys(node.store, now - DAY, shouldContinue)
      await clearAudit(node.store, now - config.retentionAuditDays * DAY, shouldContinue)
    })
  }

  get deletionHooks(): DeletionHooks {
    const { alerts, notifications, probes } = this
    const vendors = { deletionHooks: tagVendorHooks }
    const rooms = [
      alerts,
      this.#digests,
      this.#quotas,
      notifications,
      probes,
      vendors,
      this.#uptime,
      this.#subscriptions,
      this.#maintenance,
    ]
    return hooksInOrder(rooms.map(({ deletionHooks }) => deletionHooks))
  }

  get loops(): readonly Loop[] {
    return this.#parts.flatMap(({ loops }) => loops)
  }

  start(): void {
    for (const part of this.#parts) part.start()
  }

  /** Stops in reverse order of starting: probes, which produce alerts, before the notifications that send them. */
  async stop(): Promise<void> {
    const closers = new Closers()
    for (const part of this.#parts) closers.add(() => part.stop())
    await closers.closeAll()
  }

  get #parts() {
    return [
      this.#orphans,
      this.#maintenance,
      this.notifications,
      this.alerts,
      this.#digests,
      this.#quotas,
      this.#uptime,
      this.#subscriptions,
      this.#auditRetention,
      this.probes,
    ]
  }
}

export const retentionOf = ({ retentionMinuteDays, retentionHourDays }: Config) => ({
  minuteDays: retentionMinuteDays,
  hourDays: retentionHourDays,
})
