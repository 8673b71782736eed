import type { ServerResponse } from 'node:http'
import { type SqlBool, sql } from 'kysely'
import { type Access, type Credentials, highestRole, RateLimitedError, visibleTo } from '../http/index.ts'
import { AppError, type Clock, floorTo, isoTime, Loop, MINUTE, SECOND } from '../lib/index.ts'
import type { ProbeStates } from '../probes/index.ts'
import { GRAIN, partCounts } from '../rollups/index.ts'
import { chunksOf, type Store, totalOf } from '../store/index.ts'
import {
  AlertChanges,
  type Happened,
  happenedTo,
  messagesOf,
  type SiteCounter,
  StatusChanges,
} from './stream-events.ts'

const POLL_INTERVAL_MS = 2 * SECOND
/** Proxies drop connections that are silent for a minute. */
const KEEP_ALIVE_MS = 25 * SECOND
/** An event, not a comment: proxies would do with a comment, but it would reach no listener in the browser. */
const ALIVE = 'event: alive\ndata: {}\n\n'
const RECENT_MS = 5 * MINUTE
/** Data that was answered up to this long ago may reach the rollups only now, ms: busy nodes fold a site's counts later than others. */
const FOLDED_WITHIN_MS = 20 * SECOND
/** What sites received up to this long before the first listener came may be missing on its page, ms. */
const NEWS_MS = 2 * SECOND
/** Sites read in one poll, those that received something last first. */
const SITES_PER_POLL = 10_000
/** Sites in one message; the next one holds the rest. */
const SITES_PER_MESSAGE = 1_000
/** Streams open at once; a dashboard needs one per tab. */
export const STREAMS_MAX = 500
/** Of these, the ones that viewers cannot use. */
export const KEPT_FOR_ADMINS = 50
/** Streams of one address. */
export const STREAMS_PER_CALLER = 20
const RETRY_SECONDS = 30

export interface EventStreamOptions {
  store: Store
  clock: Clock
  probes: Pick<ProbeStates, 'read'>
  credentials: Pick<Credentials, 'accessesOf' | 'hasAccounts'>
  onError: (error: Error, loop: string) => void
}

/** The owner of a stream. */
export interface StreamOwner {
  caller: string
  /** Decides what the stream contains. The stream ends with the credential; without one it may last as long as the process. */
  access: Access
}

/**
 * Server-sent events for the dashboard. One poll of the store serves all listeners, and without listeners there is none. It reads
 * the store only, so every node reports what any node received.
 */
export class EventStream {
  readonly #store: Store
  readonly #clock: Clock
  readonly #credentials: EventStreamOptions['credentials']
  /** The listeners, with their access as of the last poll. */
  readonly #listeners = new Map<ServerResponse, Access>()
  /** When something was last sent to each listener; one that is missing is not live until the store was read. */
  readonly #spokenAt = new Map<ServerResponse, number>()
  readonly #byCaller = new Map<string, number>()
  readonly #loop: Loop
  readonly #statuses: StatusChanges
  readonly #alerts = new AlertChanges()
  /** When each site last received something that listeners were notified of. */
  readonly #toldOf = new Map<number, number>()
  /** What sites received until then is not sent to the first listener. */
  #liveFrom = 0
  #isStopping = false

  constructor({ store, clock, probes, credentials, onError }: EventStreamOptions) {
    this.#store = store
    this.#statuses = new StatusChanges(probes)
    this.#clock = clock
    this.#credentials = credentials
    this.#loop = new Loop({
      name: 'event-stream',
      clock,
      intervalMs: POLL_INTERVAL_MS,
      tick: () => this.#poll(),
      onError,
    })
  }

  /**
   * Checks that this caller may open another stream.
   *
   * @param isViewer whether the caller only reads: some streams are reserved for others
   * @throws AppError `unavailable` or RateLimitedError
   */
  admit(caller: string, isViewer: boolean): void {
    const most = isViewer ? STREAMS_MAX - KEPT_FOR_ADMINS : STREAMS_MAX
    if (this.#isStopping || this.#listeners.size >= most) {
      throw new AppError('unavailable', 'No more event streams can be opened at the moment')
    }
    if ((this.#byCaller.get(caller) ?? 0) >= STREAMS_PER_CALLER) {
      throw new RateLimitedError(
        `${STREAMS_PER_CALLER} event streams of this address are open: close one`,
        RETRY_SECONDS,
      )
    }
  }

  /** Takes over a response whose head was not sent yet. */
  add(response: ServerResponse, { caller, access }: StreamOwner): void {
    // The caller left while its key was looked up: `close` came already, and nothing would free its place.
    if (response.closed) return
    this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + 1)
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // nginx would otherwise hold messages until its buffer is full.
      'X-Accel-Buffering': 'no',
    })
    response.write(`retry: ${POLL_INTERVAL_MS}\n\n`)
    const isFirst = this.#listeners.size === 0
    this.#listeners.set(response, access)
    if (isFirst) {
      this.#toldOf.clear()
      this.#liveFrom = this.#clock.now() - NEWS_MS
      this.#statuses.reset()
      this.#alerts.reset()
      this.#loop.start()
      // A first poll now, so that changes are found relative to this moment and not to the next interval.
      void this.#loop.tick()
    }
    response.on('close', () => {
      this.#forget(response)
      const left = (this.#byCaller.get(caller) ?? 1) - 1
      if (left === 0) this.#byCaller.delete(caller)
      else this.#byCaller.set(caller, left)
      if (this.#listeners.size === 0) void this.#loop.stop()
    })
  }

  /** Ends all streams, so that the server can close. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const response of this.#listeners.keys()) response.end()
    this.#listeners.clear()
    this.#spokenAt.clear()
    await this.#loop.stop()
  }

  /** One poll of the store, for tests. */
  async tick(): Promise<void> {
    await this.#loop.tick()
  }

  async #poll(): Promise<void> {
    // First, so that nothing is sent while sessions cannot be looked up.
    await this.#lookAgainWhoTheyAre()
    if (this.#listeners.size === 0) return
    const { read } = this.#store
    const [sites, probes, alerts] = await Promise.all([
      this.#changedSites(),
      this.#statuses.since(),
      this.#alerts.since(read),
    ])
    await this.#tell({ ingest: { sites }, status: { probes }, alerts: { alerts } })
  }

  /** Sends to each listener what it may see. */
  async #tell(happened: Happened): Promise<void> {
    const listeners = [...this.#listeners]
    const everything = messagesOf(happened)
    const isAnyLimited = everything !== '' && listeners.some(([, access]) => visibleTo(access) !== null)
    const clientOf = isAnyLimited ? await this.#clientsOf(happened) : new Map<string, string>()
    const now = this.#clock.now()
    for (const [response, access] of listeners) {
      // Closed meanwhile.
      if (!this.#listeners.has(response)) continue
      const visible = visibleTo(access)
      const message = visible === null ? everything : messagesOf(happenedTo(happened, visible, clientOf))
      const spokenAt = this.#spokenAt.get(response)
      const isDue = spokenAt === undefined || Math.abs(now - spokenAt) >= KEEP_ALIVE_MS
      if (message !== '') this.#write(response, message, now)
      else if (isDue) this.#write(response, ALIVE, now)
    }
  }

  /** Returns the client of each site that something happened to. */
  async #clientsOf({ ingest, status }: Happened): Promise<Map<string, string>> {
    const ids = [...new Set([...ingest.sites.map(({ id }) => id), ...status.probes.map(({ site_id }) => site_id)])]
    const clients = new Map<string, string>()
    for (const chunk of chunksOf(ids)) {
      const rows = await this.#store.read
        .selectFrom('sites')
        .select(['id', 'client_id'])
        .where('id', 'in', chunk)
        .execute()
      for (const { id, client_id } of rows) clients.set(id, client_id)
    }
    return clients
  }

  /**
   * Ends streams whose session was signed out, expired or revoked, or whose key or password was changed. A listener whose roles
   * have changed sees other clients from now on.
   */
  async #lookAgainWhoTheyAre(): Promise<void> {
    if (this.#credentials.hasAccounts()) this.#endOpen()
    const credentials = new Set([...this.#listeners.values()].flatMap(({ credential }) => credential ?? []))
    if (credentials.size === 0) return
    const accesses = await this.#credentials.accessesOf([...credentials])
    for (const [response, { credential }] of this.#listeners) {
      // One that was added during the lookup is looked up next time.
      if (credential === null || !credentials.has(credential)) continue
      const access = accesses.get(credential)
      if (access !== undefined && highestRole(access.grants) !== null) {
        this.#listeners.set(response, access)
        continue
      }
      this.#end(response)
    }
  }

  /** Ends streams that were opened before anyone had an account. */
  #endOpen(): void {
    for (const [response, { role }] of this.#listeners) if (role === 'open') this.#end(response)
  }

  #end(response: ServerResponse): void {
    this.#forget(response)
    response.end()
  }

  #write(response: ServerResponse, message: string, now: number): void {
    this.#spokenAt.set(response, now)
    // Messages for a client that does not read would pile up in memory; it reconnects on its own.
    if (response.writableNeedDrain) response.destroy()
    else response.write(message)
  }

  #forget(response: ServerResponse): void {
    this.#listeners.delete(response)
    this.#spokenAt.delete(response)
  }

  async #changedSites(): Promise<SiteCounter[]> {
    const since = this.#clock.now() - FOLDED_WITHIN_MS
    const rows = await this.#store.read
      .selectFrom('site_containers')
      .innerJoin('sites', 'sites.site_no', 'site_containers.site_no')
      .select((eb) => ['sites.site_no', 'sites.id', eb.fn.max('site_containers.last_seen_at').as('last_seen_at')])
      .where('site_containers.last_seen_at', '>', since)
      .groupBy(['sites.site_no', 'sites.id'])
      .orderBy('last_seen_at', 'desc')
      .limit(SITES_PER_POLL)
      .execute()
    for (const [siteNo, seenAt] of this.#toldOf) if (seenAt <= since) this.#toldOf.delete(siteNo)
    const changed = rows
      .filter(({ site_no, last_seen_at }) => last_seen_at > (this.#toldOf.get(site_no) ?? this.#liveFrom))
      .slice(-SITES_PER_MESSAGE)
      .toReversed()
    if (changed.length === 0) return []
    const counts = await this.#recentEvents(changed.map((site) => site.site_no))
    for (const { site_no, last_seen_at } of changed) this.#toldOf.set(site_no, last_seen_at)
    return changed.map((site) => ({
      id: site.id,
      last_event_at: isoTime(site.last_seen_at),
      events_5m: counts.get(site.site_no) ?? 0,
    }))
  }

  async #recentEvents(siteNos: number[]): Promise<Map<number, number>> {
    const since = floorTo(this.#clock.now(), MINUTE) - RECENT_MS
    const sites = sql.join(siteNos)
    const db = this.#store.read
    const recent = sql<SqlBool>`p.site_no in (${sites}) and p.bucket > ${since}`
    const { rows } = await sql<{ site_no: number; total: number }>`
      select site_no, ${totalOf('total')} as total from event_rollups
      where site_no in (${sites}) and grain = ${GRAIN.minute} and bucket > ${since}
      group by site_no
      union all
      select site_no, ${totalOf('total')} as total
      from ${partCounts(db, 'event_rollups', { where: recent, apart: [] })} as counts
      group by site_no`.execute(db)
    const totals = new Map<number, number>()
    for (const { site_no, total } of rows) totals.set(site_no, (totals.get(site_no) ?? 0) + total)
    return totals
  }
}
