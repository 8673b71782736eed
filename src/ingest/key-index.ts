import { type Clock, Mutex, monthOf } from '../lib/index.ts'
import { limitsOf } from '../management/index.ts'
import {
  type Change,
  type ClientRow,
  countOf,
  type Kysely,
  type SiteRow,
  type Store,
  type Tables,
} from '../store/index.ts'
import { ClientMeter } from './limits.ts'

/** What ingest knows of a site. */
export interface SiteEntry {
  readonly siteNo: number
  readonly siteId: string
  readonly clientId: string
  readonly key: string
  /** Active site of an active client, key not revoked. */
  readonly isOpen: boolean
  readonly meter: ClientMeter
}

/** The columns the index needs: with 100,000 sites the others would only fill memory at the start. */
const SITE_COLUMNS = ['site_no', 'id', 'client_id', 'ingest_key', 'is_active', 'key_revoked_at'] as const
type SiteKey = Pick<SiteRow, (typeof SITE_COLUMNS)[number]>

/**
 * All ingest keys in memory, kept up to date by the store's change feed.
 *
 * An older read must never overwrite a newer one, or a key revoked in between would stay open. So the index applies one read
 * before it begins the next, and every change causes a read that begins after it.
 */
export class KeyIndex {
  readonly #store: Store
  readonly #clock: Clock
  readonly #byKey = new Map<string, SiteEntry>()
  readonly #bySiteNo = new Map<number, SiteEntry>()
  readonly #bySiteId = new Map<string, SiteEntry>()
  readonly #meters = new Map<string, ClientMeter>()
  /** Held from before a read until it is applied. */
  readonly #reading = new Mutex()
  /** Reads that have not begun: they will include further changes of the same client or site. */
  readonly #due = new Map<string, Promise<void>>()
  #unsubscribe: (() => void) | undefined

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  get siteCount(): number {
    return this.#bySiteNo.size
  }

  /** Every client's meter by the client's id. */
  get meters(): ReadonlyMap<string, ClientMeter> {
    return this.#meters
  }

  find(key: string): SiteEntry | undefined {
    return this.#byKey.get(key)
  }

  clientOf(siteNo: number): string | undefined {
    return this.#bySiteNo.get(siteNo)?.clientId
  }

  /** Reads all keys, and follows changes from then on. */
  async load(): Promise<void> {
    // Subscribe first: a change made during this read waits for its end, and causes another read.
    this.#unsubscribe = this.#store.changes.subscribe((change) => this.#follow(change))
    await this.#reading.run(() => this.#readAll())
  }

  async #readAll(): Promise<void> {
    const [clients, sites] = await Promise.all([
      this.#store.read.selectFrom('clients').selectAll().execute(),
      this.#store.read.selectFrom('sites').select(SITE_COLUMNS).execute(),
    ])
    this.#setMeters(clients)
    const clientById = new Map(clients.map((client) => [client.id, client]))
    for (const site of sites) {
      const client = clientById.get(site.client_id)
      if (client !== undefined) this.#put(site, client)
    }
  }

  /**
   * Reads every client's use of the month from the store. Call it when all journal rows are folded and before the first
   * request, so that nothing is missing and nothing is counted twice.
   */
  async loadUsage(): Promise<void> {
    const now = this.#clock.now()
    const rows = await this.#store.read
      .selectFrom('client_usage')
      .select(['client_id', countOf('events').as('events')])
      .where('month', '=', monthOf(now))
      .execute()
    for (const row of rows) this.#meters.get(row.client_id)?.setUsage(row.events, now)
  }

  close(): void {
    this.#unsubscribe?.()
  }

  #follow(change: Change): Promise<void> {
    const subject = `${change.kind} ${change.id}`
    const due = this.#due.get(subject)
    if (due !== undefined) return due
    const reload = this.#reading.run(async () => {
      this.#due.delete(subject)
      if (change.kind === 'site') await this.#reloadSite(change.id)
      else await this.#reloadClient(change.id)
    })
    this.#due.set(subject, reload)
    return reload
  }

  async #reloadSite(siteId: string): Promise<void> {
    const site = await this.#store.read
      .selectFrom('sites')
      .select(SITE_COLUMNS)
      .where('id', '=', siteId)
      .executeTakeFirst()
    const client = site === undefined ? undefined : await findClient(this.#store.read, site.client_id)
    if (site === undefined || client === undefined) {
      this.#drop(siteId)
      return
    }
    this.#setMeters([client])
    this.#put(site, client)
  }

  async #reloadClient(clientId: string): Promise<void> {
    const client = await findClient(this.#store.read, clientId)
    if (client === undefined) {
      for (const entry of [...this.#bySiteNo.values()]) if (entry.clientId === clientId) this.#drop(entry.siteId)
      this.#meters.delete(clientId)
      return
    }
    this.#setMeters([client])
    const sites = await this.#store.read
      .selectFrom('sites')
      .select(SITE_COLUMNS)
      .where('client_id', '=', clientId)
      .execute()
    for (const site of sites) this.#put(site, client)
  }

  #setMeters(clients: readonly ClientRow[]): void {
    for (const client of clients) {
      const limits = limitsOf(client)
      const meter = this.#meters.get(client.id)
      if (meter === undefined) this.#meters.set(client.id, new ClientMeter(limits, this.#clock.now()))
      else meter.setLimits(limits)
    }
  }

  #put(site: SiteKey, client: ClientRow): void {
    const meter = this.#meters.get(client.id)
    if (meter === undefined) return
    const entry: SiteEntry = {
      siteNo: site.site_no,
      siteId: site.id,
      clientId: client.id,
      key: site.ingest_key,
      isOpen: site.is_active === 1 && client.is_active === 1 && site.key_revoked_at === null,
      meter,
    }
    this.#byKey.set(entry.key, entry)
    this.#bySiteNo.set(entry.siteNo, entry)
    this.#bySiteId.set(entry.siteId, entry)
  }

  #drop(siteId: string): void {
    const entry = this.#bySiteId.get(siteId)
    if (entry === undefined) return
    this.#byKey.delete(entry.key)
    this.#bySiteNo.delete(entry.siteNo)
    this.#bySiteId.delete(siteId)
  }
}

const findClient = (db: Kysely<Tables>, id: string): Promise<ClientRow | undefined> =>
  db.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst()
