import type { Expiry } from '../cluster/index.ts'
import { type Clock, Mutex, monthOf } from '../lib/index.ts'
import { type KeyUse, keysOf, limitsOf } from '../management/index.ts'
import {
  type Change,
  type ClientRow,
  countOf,
  type Kysely,
  type SiteKeyRow,
  type SiteRow,
  type Store,
  type Tables,
} from '../store/index.ts'
import { ClientMeter } from './limits.ts'

/** What ingest knows about a site. */
export interface SiteEntry {
  readonly siteNo: number
  readonly siteId: string
  readonly clientId: string
  /** Keys that are not revoked: they prove that a canary is the site's own. */
  readonly keys: readonly string[]
  /** Whether site and client are active. */
  readonly isOpen: boolean
  readonly meter: ClientMeter
}

/** What ingest knows about a key. */
export interface KeyEntry {
  readonly site: SiteEntry
  readonly id: string
  readonly name: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** When a request last came with it, epoch ms; null once that is written. */
  usedAt: number | null
}

/** Why a key is refused. */
export interface KeyEnd {
  how: 'revoked' | 'expired'
  /** Epoch ms */
  at: number
}

/**
 * The answer to an unknown key while the index is not current. A 401 would be final for a key that another node has just made,
 * and looking for each in the database would let invented keys cost queries.
 */
export const UNREAD_KEYS = { retryAfterSeconds: 2 }

/** The columns the index needs: with 100,000 sites the others would only fill memory at the start. */
const SITE_COLUMNS = ['site_no', 'id', 'client_id', 'ingest_key', 'is_active', 'key_revoked_at', 'created_at'] as const
type SiteOfIndex = Pick<SiteRow, (typeof SITE_COLUMNS)[number]>

/**
 * All ingest keys in memory, kept up to date by the store's change feed.
 *
 * An older read must never overwrite a newer one, or a key revoked in between would stay open. So the index applies one read
 * before it begins the next, and every change triggers a read that begins after it.
 */
export class KeyIndex {
  readonly #store: Store
  readonly #clock: Clock
  readonly #expiry: Expiry
  readonly #byKey = new Map<string, KeyEntry>()
  readonly #bySiteNo = new Map<number, SiteEntry>()
  /** Each site with all its keys, including revoked and expired ones. */
  readonly #bySiteId = new Map<string, { site: SiteEntry; known: readonly string[] }>()
  /** Keys used since the last `takeUses`. */
  #used: KeyEntry[] = []
  readonly #meters = new Map<string, ClientMeter>()
  /** Held from before a read until it is applied. */
  readonly #reading = new Mutex()
  /** Reads that have not begun yet: they will include further changes of the same client or site. */
  readonly #due = new Map<string, Promise<void>>()
  /** Changes whose read failed: a key revoked by one would stay open. */
  readonly #missed = new Map<string, Change>()
  #unsubscribe: (() => void) | undefined

  /** @param expiry decides when keys expire: none does while the clock is in doubt */
  constructor(store: Store, clock: Clock, expiry: Expiry) {
    this.#store = store
    this.#clock = clock
    this.#expiry = expiry
  }

  get siteCount(): number {
    return this.#bySiteNo.size
  }

  /** Every client's meter by client id. */
  get meters(): ReadonlyMap<string, ClientMeter> {
    return this.#meters
  }

  find(key: string): KeyEntry | undefined {
    return this.#byKey.get(key)
  }

  /** False while a key that `find` does not find may be one that was made meanwhile: changes could not be read. */
  get isCurrent(): boolean {
    return this.#missed.size === 0 && this.#store.changes.isCurrent
  }

  /** Why the key is no longer valid, or null. */
  endOf({ expiresAt, revokedAt }: KeyEntry): KeyEnd | null {
    if (revokedAt !== null) return { how: 'revoked', at: revokedAt }
    if (expiresAt === null) return null
    const now = this.#expiry.expiryTime()
    return now === null || now < expiresAt ? null : { how: 'expired', at: expiresAt }
  }

  /** Records in memory that a request came with the key. @param now epoch ms */
  noteUse(entry: KeyEntry, now: number): void {
    if (entry.usedAt === null) this.#used.push(entry)
    entry.usedAt = now
  }

  /** When keys were last used, for those used since the last call. */
  takeUses(): KeyUse[] {
    const used = this.#used
    this.#used = []
    return used.map((entry) => {
      const { site, id, usedAt } = entry
      entry.usedAt = null
      return { siteNo: site.siteNo, keyId: id, at: usedAt ?? 0 }
    })
  }

  clientOf(siteNo: number): string | undefined {
    return this.#bySiteNo.get(siteNo)?.clientId
  }

  /** Reads all keys and follows changes from then on. */
  async load(): Promise<void> {
    // Subscribe first: a change made during this read waits for its end and triggers another read.
    this.#unsubscribe = this.#store.changes.subscribe((change) => this.#follow(change))
    await this.#reading.run(() => this.#readAll())
  }

  async #readAll(): Promise<void> {
    const [clients, sites, keys] = await Promise.all([
      this.#store.read.selectFrom('clients').selectAll().execute(),
      this.#store.read.selectFrom('sites').select(SITE_COLUMNS).execute(),
      this.#store.read.selectFrom('site_keys').selectAll().execute(),
    ])
    const stored = new Set(sites.map(({ id }) => id))
    for (const siteId of this.#bySiteId.keys()) if (!stored.has(siteId)) this.#drop(siteId)
    this.#setMeters(clients)
    const clientById = new Map(clients.map((client) => [client.id, client]))
    for (const id of this.#meters.keys()) if (!clientById.has(id)) this.#meters.delete(id)
    const keysBySite = Map.groupBy(keys, ({ site_id }) => site_id)
    for (const site of sites) {
      const client = clientById.get(site.client_id)
      if (client !== undefined) this.#put(site, client, keysBySite.get(site.id))
    }
  }

  /**
   * Reads every client's usage of the month from the store. Call it after all journal rows are folded and before the first
   * request, so that nothing is missing or counted twice.
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
      try {
        if (change.kind === 'site') await this.#reloadSite(change.id)
        else if (change.kind === 'client') await this.#reloadClient(change.id)
        else await this.#readAll()
        this.#missed.delete(subject)
      } catch (thrown) {
        this.#missed.set(subject, change)
        throw thrown
      }
    })
    this.#due.set(subject, reload)
    return reload
  }

  /** Reads again what could not be read after a change. @throws StoreError */
  async readMissed(): Promise<void> {
    for (const change of [...this.#missed.values()]) await this.#follow(change)
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
    const keys = await this.#store.read.selectFrom('site_keys').selectAll().where('site_id', '=', siteId).execute()
    this.#setMeters([client])
    this.#put(site, client, keys)
  }

  async #reloadClient(clientId: string): Promise<void> {
    const client = await findClient(this.#store.read, clientId)
    if (client === undefined) {
      for (const site of [...this.#bySiteNo.values()]) if (site.clientId === clientId) this.#drop(site.siteId)
      this.#meters.delete(clientId)
      return
    }
    this.#setMeters([client])
    const sites = await this.#store.read
      .selectFrom('sites')
      .select(SITE_COLUMNS)
      .where('client_id', '=', clientId)
      .execute()
    const keys = await this.#store.read
      .selectFrom('site_keys')
      .selectAll()
      .where('site_id', 'in', (sub) => sub.selectFrom('sites').select('sites.id').where('client_id', '=', clientId))
      .execute()
    const keysBySite = Map.groupBy(keys, ({ site_id }) => site_id)
    for (const site of sites) this.#put(site, client, keysBySite.get(site.id))
  }

  #setMeters(clients: readonly ClientRow[]): void {
    for (const client of clients) {
      const limits = limitsOf(client)
      const meter = this.#meters.get(client.id)
      if (meter === undefined) this.#meters.set(client.id, new ClientMeter(limits, this.#clock.now()))
      else meter.setLimits(limits)
    }
  }

  #put(row: SiteOfIndex, client: ClientRow, rows: readonly SiteKeyRow[] = []): void {
    const meter = this.#meters.get(client.id)
    if (meter === undefined) return
    const keys = keysOf(row, rows)
    const known = keys.map(({ ingest_key }) => ingest_key)
    const isRevoked = keys.some(({ revoked_at }) => revoked_at !== null)
    const site: SiteEntry = {
      siteNo: row.site_no,
      siteId: row.id,
      clientId: client.id,
      // Share one list, as nearly all of up to 100,000 sites have no revoked key.
      keys: isRevoked ? known.filter((_, index) => keys[index]?.revoked_at === null) : known,
      isOpen: row.is_active === 1 && client.is_active === 1,
      meter,
    }
    for (const key of this.#bySiteId.get(row.id)?.known ?? []) if (!known.includes(key)) this.#byKey.delete(key)
    for (const { ingest_key, id, name, expires_at, revoked_at } of keys) {
      this.#byKey.set(ingest_key, { site, id, name, expiresAt: expires_at, revokedAt: revoked_at, usedAt: null })
    }
    this.#bySiteNo.set(site.siteNo, site)
    this.#bySiteId.set(site.siteId, { site, known })
  }

  #drop(siteId: string): void {
    const found = this.#bySiteId.get(siteId)
    if (found === undefined) return
    for (const key of found.known) this.#byKey.delete(key)
    this.#bySiteNo.delete(found.site.siteNo)
    this.#bySiteId.delete(siteId)
  }
}

const findClient = (db: Kysely<Tables>, id: string): Promise<ClientRow | undefined> =>
  db.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst()
