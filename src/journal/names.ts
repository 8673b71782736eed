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

/** An id that goes back to a name it had today is linked again, so that the newest name wins, but no more often than this. */
const LINK_AGAIN_MS = MINUTE
/** Books unused for so long are dropped, and read again when their site sends again. */
const UNUSED_FOR_MS = 15 * MINUTE

/** Days of a site kept in memory: events come from a day ago to five minutes ahead, which can touch three UTC days. */
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
/** Of names that all counts come under. */
const NAME_KINDS = ['event', 'tag', 'container'] as const satisfies NameKind[]
const isNameKind = (kind: string): kind is NameKind => Object.hasOwn(CAPS, kind)

/** A tag id and the name that it came with. */
export interface TagLink {
  containerId: string
  id: string
  name: string
  /** When the request was accepted, epoch ms. */
  lastSeenAt: number
}

/** Which names a site has used on one day, and which tag ids they belonged to. */
export class NameBook {
  readonly day: number
  /** By kind, once there is a name of it: there are as many books as sites, and few have names of all kinds. */
  readonly #booked: Partial<Record<NameKind, Set<string>>> = {}
  /** Admitted under their own name, apart from the two that are always allowed. */
  readonly #admitted: Record<NameKind, number> = { event: 0, tag: 0, container: 0, version: 0, client: 0, field: 0 }
  /** The container that the first link was of: most sites have one. */
  #container: string | undefined
  /** The name that each tag id had last; of other containers the id stands behind theirs, with NUL between, which no name holds. */
  readonly #namesOfIds = new Map<string, string>()
  /**
   * When each link of an id and a name was last written, epoch ms of the senders' requests; only of ids that have changed their name, as
   * the others' were two thirds of a book.
   */
  #links: Map<string, number> | undefined
  #linkCount = 0
  #isLinkingOver = false
  /** The latest acceptance of what it was used for, epoch ms. */
  usedAt = 0

  constructor(day: number) {
    this.day = day
  }

  /** Takes in a name that was admitted before: by another process, or by this one before a restart. */
  remember(kind: NameKind, name: string): void {
    this.#booked[kind] ??= new Set()
    const booked = this.#booked[kind]
    if (booked.has(name)) return
    booked.add(name)
    this.#admitted[kind]++
  }

  /**
   * The name to count `name` under. Calls `onAdmit` for a name that is new today and still fits under the cap.
   */
  book(kind: NameKind, name: string, onAdmit: (admitted: string) => void): string {
    if (this.#booked[kind]?.has(name) === true || isAlwaysAllowed(kind, name)) return name
    const clean = storable(name)
    if (clean !== name && this.#booked[kind]?.has(clean) === true) return clean
    if (this.#admitted[kind] >= CAPS[kind]) return OTHER
    this.remember(kind, clean)
    onAdmit(clean)
    return clean
  }

  /** Whether `book` would admit a name of this cell. */
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
    if (event.fields === undefined || this.#admitted.field >= CAPS.field) return false
    const clean = storable(eventName)
    const isOwn =
      isAlwaysAllowed('event', clean) || this.#booked.event?.has(clean) === true || this.#isNew('event', eventName)
    const name = isOwn ? clean : OTHER
    for (const field of fieldsOf(event).keys()) {
      if (field !== OTHER && this.#isNew('field', fieldKey(name, storable(field)))) return true
    }
    return false
  }

  get #isFull(): boolean {
    return NAME_KINDS.every((kind) => this.#admitted[kind] >= CAPS[kind])
  }

  #isNew(kind: NameKind, name: string): boolean {
    const booked = this.#booked[kind]
    return (
      booked?.has(name) !== true &&
      this.#admitted[kind] < CAPS[kind] &&
      !isAlwaysAllowed(kind, name) &&
      booked?.has(storable(name)) !== true
    )
  }

  /**
   * `link` when the tag id gets this name: for the first time on this day, or again after it had another. Past the cap `full` the
   * first time, then `known`: an id that is not linked is still counted by its name.
   *
   * Links are capped and not ids: with ids whose names changed from event to event, 300 requests a second made folds write 20,000
   * links each, and every commit beside them waited for 200 ms.
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

  /** An id goes from one name to another, at a time of acceptance. */
  #noteChange(from: string, to: string, at: number): void {
    this.#links ??= new Map()
    // The first name of an id stands nowhere else yet: it may come back a minute from now.
    if (!this.#links.has(from)) this.#links.set(from, at)
    this.#links.set(to, at)
  }
}

/**
 * The name books of all sites that sent something recently, loaded from the store when a site first sends.
 *
 * Where other processes admit names too, a book is read again before it admits one: unknown names are rare, and a full book
 * admits none. Two processes that admit names of one site within the same second do not see each other's, so a site may exceed
 * the cap by what they admit in that second: the cap protects the store, and a few more rows do no harm.
 */
export class NameBooks {
  readonly #store: Store
  readonly #books = new Map<number, NameBook[]>()
  #newestAt = 0
  #letGoUpTo = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Loads the books that these sites' part of the delta needs, for `book`, until the next call. */
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

  /** Drops days that no event can be booked to any more. */
  forgetOldDays(siteNos: Iterable<number>): void {
    for (const siteNo of siteNos) {
      const books = this.#books.get(siteNo)
      if (books === undefined || books.length <= BOOKS_PER_SITE) continue
      this.#books.set(siteNo, books.toSorted((a, b) => b.day - a.day).slice(0, BOOKS_PER_SITE))
    }
  }

  /** @throws when the book was not loaded: a bug of the caller. */
  book(siteNo: number, day: number): NameBook {
    const book = this.#find(siteNo, day)
    if (book === undefined) throw new Error(`name book of site ${siteNo} for ${day} is not loaded`)
    return book
  }

  /** Drops the books of these sites, so that they are read again: after a failed fold, or a deleted site. */
  forget(siteNos: Iterable<number>): void {
    for (const siteNo of siteNos) this.#books.delete(siteNo)
  }

  /** Sites with a book in memory. */
  get size(): number {
    return this.#books.size
  }

  /** The rows that this process lets the site add. */
  budget(siteNo: number): RowBudget {
    return RowBudgets.of(this.#store).find(siteNo, this.#newestAt)
  }

  /** Drops books that were not used since; runs once per retention of a book. */
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
 * What a parameter of the site's own is booked under: with the event that names it. Told apart by the length of the first, as names may hold
 * any character.
 */
export const fieldKey = (eventName: string, field: string): string => `${eventName.length} ${eventName}${field}`

/** Stand for many names or for none, and do not count under the cap. */
const isAlwaysAllowed = (kind: NameKind, name: string): boolean =>
  name === OTHER || (kind === 'event' && name === NO_EVENT)

/** What a version is booked under. */
export const versionName = (containerId: string, { version, environment }: VersionSeen): string =>
  `${containerId} ${version} ${environment}`

/** Likewise a client. */
export const clientName = (containerId: string, { name }: ClientSeen): string => `${containerId} ${name}`

export const dayOf = (time: number): number => floorTo(time, DAY)
