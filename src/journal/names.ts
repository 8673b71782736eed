import { DAY, floorTo, MINUTE, storable } from '../lib/index.ts'
import {
  CLIENTS_PER_DAY,
  CONTAINERS_PER_DAY,
  FIELDS_PER_DAY,
  LINKS_PER_DAY,
  NAMES_PER_DAY,
  NO_EVENT,
  OTHER,
  VERSIONS_PER_DAY,
} from '../rollups/index.ts'
import { chunksOf, type Store } from '../store/index.ts'
import { type Cell, type Delta, type EventDelta, fieldsOf } from './delta.ts'
import { type RowBudget, RowBudgets } from './row-budget.ts'
import type { ClientSeen, VersionSeen } from './seen.ts'

/** An id that returns to a name it had earlier today is linked again, so that the newest name wins, but no more often than this. */
const LINK_AGAIN_MS = MINUTE
/** Books unused for so long are dropped, and read again when their site sends again. */
const UNUSED_FOR_MS = 15 * MINUTE

/** Days of a site kept in memory: events are between a day old and five minutes ahead, which can touch three UTC days. */
const BOOKS_PER_SITE = 3

const CAPS = {
  event: NAMES_PER_DAY,
  tag: NAMES_PER_DAY,
  container: CONTAINERS_PER_DAY,
  version: VERSIONS_PER_DAY,
  client: CLIENTS_PER_DAY,
  field: FIELDS_PER_DAY,
} as const
export type NameKind = keyof typeof CAPS
/** Kinds that every count is stored under. */
const NAME_KINDS = ['event', 'tag', 'container'] as const satisfies NameKind[]
const isNameKind = (kind: string): kind is NameKind => Object.hasOwn(CAPS, kind)

/** A tag id and a name that it came with. */
export interface TagLink {
  containerId: string
  id: string
  name: string
  /** When the request was accepted, epoch ms. */
  lastSeenAt: number
}

/** The names a site has used on one day, and the tag ids they belonged to. */
export class NameBook {
  readonly day: number
  /**
   * Booked names by kind, without `(other)` and `NO_EVENT`, which are always allowed. A set for a second name only: there is a book for
   * every site, and of most kinds it has one.
   */
  readonly #booked: Partial<Record<NameKind, string | Set<string>>> = {}
  /** The container of the first link: most sites have only one. */
  #container: string | undefined
  /**
   * The last name of each tag id. In containers other than `#container` the key is container and id with NUL between, which no
   * name contains.
   */
  readonly #namesOfIds = new Map<string, string>()
  /**
   * When each link of an id and a name was last written, by time of acceptance, epoch ms. Only for ids that have changed their
   * name: all others would make up two thirds of a book.
   */
  #links: Map<string, number> | undefined
  #linkCount = 0
  #isLinkingOver = false
  /** The latest acceptance among the cells it was used for, epoch ms. */
  usedAt = 0

  constructor(day: number) {
    this.day = day
  }

  /** Adds a name that was admitted earlier, by another process or before a restart. */
  remember(kind: NameKind, name: string): void {
    const booked = this.#booked[kind]
    if (booked === undefined) this.#booked[kind] = name
    else if (typeof booked !== 'string') booked.add(name)
    else if (booked !== name) this.#booked[kind] = new Set([booked, name])
  }

  #has(kind: NameKind, name: string): boolean {
    const booked = this.#booked[kind]
    return booked === name || (typeof booked === 'object' && booked.has(name))
  }

  #isFullOf(kind: NameKind): boolean {
    const booked = this.#booked[kind]
    const count = typeof booked === 'object' ? booked.size : booked === undefined ? 0 : 1
    return count >= CAPS[kind]
  }

  /** Returns the name to count `name` under. Calls `onAdmit` when the name is new today and fits under the cap. */
  book(kind: NameKind, name: string, onAdmit: (admitted: string) => void): string {
    if (this.#has(kind, name) || isAlwaysAllowed(kind, name)) return name
    const clean = storable(name)
    if (clean !== name && this.#has(kind, clean)) return clean
    if (this.#isFullOf(kind)) return OTHER
    this.remember(kind, clean)
    onAdmit(clean)
    return clean
  }

  /** Whether `book` would admit any name of this cell. */
  wouldAdmit({ containerId, events, versions, clients }: Cell): boolean {
    for (const seen of versions?.values() ?? []) if (this.#isNew('version', versionName(containerId, seen))) return true
    for (const seen of clients?.values() ?? []) if (this.#isNew('client', clientName(containerId, seen))) return true
    for (const [name, event] of events) if (this.#hasNewField(name, event)) return true
    if (this.#isFull) return false
    if (this.#isNew('container', containerId)) return true
    for (const [name, event] of events) {
      if (this.#isNew('event', name)) return true
      for (const key of event.tags.keys()) if (this.#isNew('tag', key)) return true
    }
    return false
  }

  #hasNewField(eventName: string, event: EventDelta): boolean {
    if (event.fields === undefined || this.#isFullOf('field')) return false
    const clean = storable(eventName)
    const isOwn = isAlwaysAllowed('event', clean) || this.#has('event', clean) || this.#isNew('event', eventName)
    const name = isOwn ? clean : OTHER
    for (const field of fieldsOf(event).keys()) {
      if (field !== OTHER && this.#isNew('field', fieldKey(name, storable(field)))) return true
    }
    return false
  }

  get #isFull(): boolean {
    return NAME_KINDS.every((kind) => this.#isFullOf(kind))
  }

  #isNew(kind: NameKind, name: string): boolean {
    return (
      !this.#has(kind, name) &&
      !this.#isFullOf(kind) &&
      !isAlwaysAllowed(kind, name) &&
      !this.#has(kind, storable(name))
    )
  }

  /**
   * `link` when the tag id gets this name for the first time on this day, or again after another name. Past the cap `full` once,
   * then `known`; an id without a link is still counted by its name.
   *
   * The cap is on links, not on ids: with ids whose names changed from event to event, 300 requests a second made folds write
   * 20,000 links each, and every commit beside them waited for 200 ms.
   */
  linkId({ containerId, id, name, lastSeenAt }: TagLink): 'link' | 'known' | 'full' {
    this.#container ??= containerId
    const ofId = containerId === this.#container ? id : `${containerId}\0${id}`
    const before = this.#namesOfIds.get(ofId)
    if (before === name) return 'known'
    const link = `${ofId}\0${name}`
    const writtenAt = this.#links?.get(link)
    if (writtenAt === undefined && this.#linkCount >= LINKS_PER_DAY) {
      if (this.#isLinkingOver) return 'known'
      this.#isLinkingOver = true
      return 'full'
    }
    if (writtenAt !== undefined && lastSeenAt < writtenAt + LINK_AGAIN_MS) return 'known'
    if (writtenAt === undefined) this.#linkCount++
    this.#namesOfIds.set(ofId, name)
    if (before !== undefined) this.#noteChange(`${ofId}\0${before}`, link, lastSeenAt)
    return 'link'
  }

  /** Records that an id changed from one link to another. */
  #noteChange(from: string, to: string, at: number): void {
    this.#links ??= new Map()
    // The id's first link is not in the map yet, but the id may return to it in a minute.
    if (!this.#links.has(from)) this.#links.set(from, at)
    this.#links.set(to, at)
  }
}

/**
 * The name books of all recently active sites, each loaded from the store when its site first sends.
 *
 * Where other processes admit names too, a book is read again before it admits one: unknown names are rare, and a full book
 * admits none. Two processes that admit names of one site within the same second do not see each other's, so the site may exceed
 * the cap by that second's names. That is harmless: the cap protects the store from many rows, not from a few.
 */
export class NameBooks {
  readonly #store: Store
  readonly #books = new Map<number, NameBook[]>()
  #newestAt = 0
  #letGoUpTo = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Loads the books needed to fold these sites of the delta. `book` finds them until the next call. */
  async load(delta: Delta, siteNos: Iterable<number>): Promise<void> {
    this.#letGo(this.#newestAt - UNUSED_FOR_MS)
    const unread = new Map<number, Set<number>>()
    for (const siteNo of siteNos) {
      for (const cell of delta.sites.get(siteNo)?.cells ?? []) {
        const day = dayOf(cell.minute)
        const known = this.#find(siteNo, day)
        const book = known ?? this.#add(siteNo, new NameBook(day))
        book.usedAt = Math.max(book.usedAt, cell.lastSeenAt)
        this.#newestAt = Math.max(this.#newestAt, cell.lastSeenAt)
        if (known !== undefined && !(this.#store.isShared && book.wouldAdmit(cell))) continue
        unread.set(day, (unread.get(day) ?? new Set()).add(siteNo))
      }
    }
    for (const [day, sites] of unread) {
      for (const chunk of chunksOf([...sites])) await this.#read(day, chunk)
    }
  }

  /** Drops days that events can no longer fall on. */
  forgetOldDays(siteNos: Iterable<number>): void {
    for (const siteNo of siteNos) {
      const books = this.#books.get(siteNo)
      if (books === undefined || books.length <= BOOKS_PER_SITE) continue
      this.#books.set(siteNo, books.toSorted((a, b) => b.day - a.day).slice(0, BOOKS_PER_SITE))
    }
  }

  /** @throws Error when the book was not loaded, which is a bug of the caller */
  book(siteNo: number, day: number): NameBook {
    const book = this.#find(siteNo, day)
    if (book === undefined) throw new Error(`name book of site ${siteNo} for ${day} is not loaded`)
    return book
  }

  /** Drops the books of these sites, so that they are read again: after a failed fold, or when a site was deleted. */
  forget(siteNos: Iterable<number>): void {
    for (const siteNo of siteNos) this.#books.delete(siteNo)
  }

  /** Sites with a book in memory. */
  get size(): number {
    return this.#books.size
  }

  /** How many new rows the site may still add through this process. */
  budget(siteNo: number): RowBudget {
    return RowBudgets.of(this.#store).find(siteNo, this.#newestAt)
  }

  /** Drops books unused since that time, at most once per `UNUSED_FOR_MS`. */
  #letGo(since: number): void {
    if (since < this.#letGoUpTo + UNUSED_FOR_MS) return
    this.#letGoUpTo = since
    for (const [siteNo, books] of this.#books) {
      const used = books.filter((book) => book.usedAt >= since)
      if (used.length === books.length) continue
      if (used.length > 0) this.#books.set(siteNo, used)
      else this.#books.delete(siteNo)
    }
  }

  #find(siteNo: number, day: number): NameBook | undefined {
    return this.#books.get(siteNo)?.find((book) => book.day === day)
  }

  #add(siteNo: number, book: NameBook): NameBook {
    const books = this.#books.get(siteNo)
    if (books === undefined) this.#books.set(siteNo, [book])
    else books.push(book)
    return book
  }

  async #read(day: number, siteNos: readonly number[]): Promise<void> {
    const rows = await this.#store.read
      .selectFrom('daily_names')
      .select(['site_no', 'kind', 'name'])
      .where('site_no', 'in', siteNos)
      .where('day', '=', day)
      .execute()
    for (const { site_no, kind, name } of rows) if (isNameKind(kind)) this.#find(site_no, day)?.remember(kind, name)
  }
}

/**
 * The name that a site's own parameter is booked under: event and parameter. The event's length comes first, because names may
 * contain any separator.
 */
export const fieldKey = (eventName: string, field: string): string => `${eventName.length} ${eventName}${field}`

/** Names that stand for many or for none, and do not count towards the cap. */
const isAlwaysAllowed = (kind: NameKind, name: string): boolean =>
  name === OTHER || (kind === 'event' && name === NO_EVENT)

/** The name that a version is booked under. */
export const versionName = (containerId: string, { version, environment }: VersionSeen): string =>
  `${containerId} ${version} ${environment}`

/** The name that a client is booked under. */
export const clientName = (containerId: string, { name }: ClientSeen): string => `${containerId} ${name}`

export const dayOf = (time: number): number => floorTo(time, DAY)
