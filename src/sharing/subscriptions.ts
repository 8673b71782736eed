import { JobRunner, type Leases } from '../cluster/index.ts'
import { type Clock, HOUR, isoTime, MINUTE, SECOND } from '../lib/index.ts'
import type { DeletionHooks } from '../management/index.ts'
import type { Mailer } from '../notifications/index.ts'
import type { Store } from '../store/index.ts'
import { announcedIncidents, announceIncidents, forgetIncidents, incidentsSince } from './announced-incidents.ts'
import { announcedLately, forgetAnnounced, MaintenanceAnnouncer, maintenanceSince } from './announced-maintenance.ts'
import { withinAskingLimit } from './asking.ts'
import { namedSites } from './history.ts'
import { afterMail, forgetLapsed, type OpenSubscriber, openSubscribers, removeRefused } from './subscribers.ts'
import {
  changesMail,
  confirmationMail,
  linksFor,
  type MaintenanceChange,
  type StatusChange,
} from './subscription-mails.ts'

const EVERY_MS = 15 * SECOND
const ATTEMPT_MS = MINUTE
/** News of maintenance waits for company for this time, ms. */
const COMPANY_MS = 15 * SECOND
/**
 * After this many attempts in a row that fail because of the server it counts as down: each of a thousand subscribers would wait
 * for it.
 */
const SERVER_IS_AWAY = 3

interface Options {
  store: Store
  clock: Clock
  leases: Leases
  /** Null when e-mail is not set up: then nothing is done. */
  mailer: Mailer | null
  publicUrl: () => string
  onError: (error: Error, loop: string) => void
}

/** Returns what someone who knows of everything up to `until` has not been e-mailed about yet, the oldest first. */
type News = (until: number, now: number) => (StatusChange | MaintenanceChange)[]

/** Sends e-mail about incidents and maintenance to those who subscribed on a status page: each change at least once, several at once in one e-mail. */
export class Subscriptions extends JobRunner {
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfClient'> = {
    removeOfClient: async (trx, clientId) => {
      await trx.deleteFrom('status_subscribers').where('client_id', '=', clientId).execute()
      await trx.deleteFrom('announced_incidents').where('client_id', '=', clientId).execute()
      await trx.deleteFrom('announced_maintenance').where('client_id', '=', clientId).execute()
    },
  }
  readonly #options: Options
  readonly #maintenance: MaintenanceAnnouncer
  readonly #stopping = new AbortController()

  constructor(options: Options) {
    super(options)
    this.#options = options
    this.#maintenance = new MaintenanceAnnouncer(options)
    const { store, mailer } = options
    if (mailer === null) return
    this.jobs
      .onOneNode('status-subscriptions', EVERY_MS, (shouldContinue) => this.#mailAll(mailer, shouldContinue))
      .deletingByAge('status-subscription-cleanup', HOUR, async (now) => {
        await forgetLapsed(store, now)
        await forgetAnnounced(store, now)
        await forgetIncidents(store, now)
      })
  }

  /** Calls off the e-mail that is being sent: a server may hold it for longer than the whole service has to stop. */
  override async stop(): Promise<void> {
    this.#stopping.abort()
    await super.stop()
  }

  async #mailAll(mailer: Mailer, shouldContinue: () => boolean): Promise<void> {
    const { store, clock } = this.#options
    await this.#maintenance.announce()
    await announceIncidents(this.#options)
    const open = await withinAskingLimit(store, await openSubscribers(store, clock.now()), clock.now())
    const news = new Map<string, News>()
    let failures = 0
    for (const subscriber of open) {
      if (!shouldContinue() || failures >= SERVER_IS_AWAY) return
      const { client_id: clientId } = subscriber
      const ofClient = news.get(clientId) ?? (await this.#newsOf(clientId))
      news.set(clientId, ofClient)
      const isServerUp = await this.#mail(mailer, subscriber, ofClient)
      if (isServerUp !== null) failures = isServerUp ? 0 : failures + 1
    }
  }

  async #newsOf(clientId: string): Promise<News> {
    const { store, clock } = this.#options
    const sites = await namedSites(store.read, clientId)
    const incidents = await announcedIncidents(store, clientId, clock.now())
    const maintenance = await announcedLately(store, clientId, clock.now())
    return (until, now) => {
      const ofIncidents = incidentsSince(incidents, sites, until, now)
      const changes = [...ofIncidents, ...maintenanceSince(maintenance, sites, until, now)]
      const newest = changes.reduce((latest, { at }) => Math.max(latest, at), 0)
      // Those who wait for news of maintenance are in no hurry, and news of an incident may come with it.
      if (ofIncidents.length === 0 && newest > now - COMPANY_MS) return []
      return changes.sort((a, b) => a.at - b.at)
    }
  }

  /**
   * Sends what a subscriber has not been e-mailed about yet.
   *
   * @returns whether the server works, even if it puts off this address; null when there was nothing to send
   */
  async #mail(mailer: Mailer, subscriber: OpenSubscriber, newsSince: News): Promise<boolean | null> {
    const { store, clock, publicUrl } = this.#options
    const { id, email, client_id, client_name, confirmed_at, notified_until } = subscriber
    const now = clock.now()
    const links = linksFor(subscriber, publicUrl())
    const changes = confirmed_at === null ? [] : newsSince(notified_until, now)
    const until = changes.at(-1)?.at
    if (confirmed_at !== null && until === undefined) return null
    const content =
      until === undefined ? confirmationMail(client_name, links) : changesMail(client_name, changes, links, now)
    const stopping = this.#stopping.signal
    const outcome = await mailer.send(
      {
        ...content,
        to: [email],
        at: now,
        // The same id when it is sent again after a crash.
        id: `${id}.${isoTime(until ?? now)}`,
        thread: null,
        list: client_id,
        ...(until !== undefined && { unsubscribeUrl: links.subscription }),
      },
      AbortSignal.any([stopping, AbortSignal.timeout(ATTEMPT_MS)]),
    )
    // It may have got through; the next start sends it again, and nothing has failed.
    if (stopping.aborted && outcome.kind === 'passing') return null
    const done = until === undefined ? { asked_at: now } : { notified_until: until }
    const left = afterMail(subscriber, outcome.kind, done, clock.now())
    // Someone who confirmed meanwhile keeps what was written then, and must not wait for the next e-mail.
    await (left === null
      ? removeRefused(store, subscriber)
      : store.write
          .updateTable('status_subscribers')
          .set(left)
          .where('id', '=', id)
          .where('confirmed_at', confirmed_at === null ? 'is' : 'is not', null)
          .execute())
    // Anyone may subscribe addresses that the server puts off, and they must not make it count as down.
    return outcome.kind !== 'passing' || outcome.ofAddress === true
  }
}
