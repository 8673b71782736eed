import { floorTo, HOUR, storable, Yielder } from '../lib/index.ts'
import {
  clientUsage,
  containerClients,
  containerVersions,
  dailyNames,
  dirtyBuckets,
  eventRollups,
  eventTagRollups,
  fieldRollups,
  GRAIN,
  LOCK_ORDER,
  NO_EVENT,
  OTHER,
  signalRollups,
  siteContainers,
  tagNames,
  tagRollups,
  tagSignalRollups,
} from '../rollups/index.ts'
import type { BatchOperation, SqlValue, UpsertSpec } from '../store/index.ts'
import { byTimeAndContainer, lastSeen, mergeAlike, mergeByHour, renamed, tagsOf, unitsOfCell } from './cells.ts'
import {
  addAll,
  type Cell,
  type Counts,
  cellAt,
  fieldsOf,
  newSite,
  OUTCOME_END,
  type SiteDelta,
  seeClient,
  seeVersion,
  type TagDelta,
  type Usage,
} from './delta.ts'
import type { NameBook, NameBooks, NameKind, TagLink } from './names.ts'
import { clientName, dayOf, fieldKey, versionName } from './names.ts'
import type { RowBudget } from './row-budget.ts'

/** Events and tags of a site that are made rows in one turn of the event loop: some two milliseconds. */
const UNITS_PER_TURN = 250

/** Rows of one fold transaction, gathered by table. */
export class FoldRows {
  readonly #values = new Map<UpsertSpec, SqlValue[]>()
  readonly #usage = new Map<string, Map<number, Usage>>()
  #count = 0

  /** Rows gathered so far. */
  get count(): number {
    return this.#count
  }

  /**
   * Adds everything one site reported, in pieces. Best in ascending order: then the engine has nothing left to sort.
   *
   * Measured with 300 events a second, each of another minute, with 40 tags: in one piece, a second's sum took 50 ms.
   */
  async addSite(siteNo: number, clientId: string, site: SiteDelta, books: NameBooks): Promise<void> {
    const budget = books.budget(siteNo)
    const yielder = new Yielder(UNITS_PER_TURN)
    const booked: Cell[] = []
    for (const cell of site.cells.toSorted(byTimeAndContainer)) {
      booked.push(this.#bookNames(siteNo, cell, books))
      await yielder.spend(unitsOfCell(cell))
    }
    const cells = mergeAlike(booked)
    this.addUsage(clientId, site)
    for (const cell of cells) {
      this.#addEvents(siteNo, cell, budget)
      this.#addFields(siteNo, cell, budget)
      this.#addTags(siteNo, cell, budget)
      await yielder.spend(unitsOfCell(cell))
    }
    for (const cell of await mergeByHour(cells, yielder)) {
      this.#addHour(siteNo, cell, budget)
      await yielder.spend(unitsOfCell(cell))
    }
    for (const hour of new Set(cells.map((cell) => floorTo(cell.minute, HOUR)))) {
      this.#push(dirtyBuckets, siteNo, GRAIN.hour, hour, 1)
    }
    for (const [containerId, lastSeenAt] of lastSeen(cells))
      this.#push(siteContainers, siteNo, containerId, 1, lastSeenAt)
    this.#addSeen(siteNo, cells, books)
  }

  /** Adds what a site's client used, and nothing else. */
  addUsage(clientId: string, site: SiteDelta): void {
    for (const [month, usage] of site.usage) this.#addUsage(clientId, month, usage)
  }

  /** The name to count `name` under on the book's day, which is written if it is new and fits under the cap. */
  bookName(siteNo: number, book: NameBook, kind: NameKind, name: string): string {
    return book.book(kind, name, (admitted) => this.#push(dailyNames, siteNo, book.day, kind, admitted))
  }

  /** The name to count a parameter of the site's own under. @param eventName the name that its event is booked under */
  bookField(siteNo: number, book: NameBook, eventName: string, field: string): string {
    const name = storable(field)
    if (name === OTHER) return name
    return this.bookName(siteNo, book, 'field', fieldKey(eventName, name)) === OTHER ? OTHER : name
  }

  /** Writes which name a tag id has, unless that is written or there are too many ids on the book's day. */
  linkId(siteNo: number, book: NameBook, tagLink: TagLink): void {
    const { containerId, id, name, lastSeenAt } = tagLink
    if (name === OTHER || containerId === OTHER) return // shared by many: the name of none
    const link = book.linkId(tagLink)
    if (link === 'link') this.#push(tagNames, siteNo, containerId, id, name, lastSeenAt)
    // A row that records that: reports leave out the name `(other)`.
    else if (link === 'full') this.#push(tagNames, siteNo, OTHER, OTHER, OTHER, lastSeenAt)
  }

  operations(): BatchOperation[] {
    for (const clientId of [...this.#usage.keys()].sort()) {
      for (const [month, usage] of this.#usage.get(clientId) ?? []) {
        this.#push(clientUsage, clientId, month, usage.events, usage.requests)
      }
    }
    this.#usage.clear()
    return LOCK_ORDER.flatMap((spec): BatchOperation[] => {
      const values = this.#values.get(spec)
      return values === undefined ? [] : [{ kind: 'upsert', spec, values }]
    })
  }

  #push(spec: UpsertSpec, ...row: SqlValue[]): void {
    const values = this.#values.get(spec)
    if (values === undefined) this.#values.set(spec, row)
    else values.push(...row)
    this.#count++
  }

  #addUsage(clientId: string, month: number, { events, requests }: Usage): void {
    const months = this.#usage.get(clientId) ?? new Map<number, Usage>()
    const before = months.get(month) ?? { events: 0, requests: 0 }
    months.set(month, { events: before.events + events, requests: before.requests + requests })
    this.#usage.set(clientId, months)
  }

  #addEvents(siteNo: number, { minute, containerId, lastSeenAt, events }: Cell, budget: RowBudget): void {
    const admits = (kind: 'event' | 'signal') => (name: string) =>
      isFree(name) || budget.admitsMinute(lastSeenAt, minute, containerId, kind, name)
    for (const [name, counts] of withinBudget(events, admits('event'))) {
      this.#push(eventRollups, siteNo, GRAIN.minute, minute, containerId, name, ...counts)
    }
    for (const [name, counts] of withinBudget(signalsOf(events), admits('signal'))) {
      this.#push(signalRollups, siteNo, GRAIN.minute, minute, containerId, name, ...counts)
    }
  }

  /** A pair of names over the budget is counted as `(other)` in both. */
  #addFields(siteNo: number, { minute, containerId, lastSeenAt, events }: Cell, budget: RowBudget): void {
    const other: Counts = []
    for (const name of [...events.keys()].filter((one) => events.get(one)?.fields !== undefined).sort()) {
      const fields = events.get(name)?.fields
      for (const field of [...(fields?.keys() ?? [])].sort()) {
        const counts = fields?.get(field) ?? []
        const isOther = name === OTHER && field === OTHER
        if (isOther || !budget.admitsMinute(lastSeenAt, minute, containerId, 'field', name, field))
          addAll(other, counts)
        else this.#push(fieldRollups, siteNo, GRAIN.minute, minute, containerId, name, field, ...counts)
      }
    }
    if (other.length > 0) this.#push(fieldRollups, siteNo, GRAIN.minute, minute, containerId, OTHER, OTHER, ...other)
  }

  #addTags(siteNo: number, cell: Cell, budget: RowBudget): void {
    const { minute, containerId, lastSeenAt } = cell
    const admits = (kind: 'tag' | 'tag signal') => (key: string) =>
      isFree(key) || budget.admitsMinute(lastSeenAt, minute, containerId, kind, key)
    const tags = tagsOf(cell)
    for (const [key, counts] of withinBudget(tags, admits('tag'))) {
      this.#push(tagRollups, siteNo, GRAIN.minute, minute, containerId, key, ...counts)
    }
    for (const [key, counts] of withinBudget(signalsOf(tags), admits('tag signal'))) {
      this.#push(tagSignalRollups, siteNo, GRAIN.minute, minute, containerId, key, ...counts)
    }
  }

  /** Past the cap of a day further versions and clients are not noted: no count depends on them. */
  #addSeen(siteNo: number, cells: readonly Cell[], books: NameBooks): void {
    const sums = newSite()
    for (const { containerId, minute, versions, clients } of cells) {
      if ((versions === undefined && clients === undefined) || containerId === OTHER) continue
      const book = books.book(siteNo, dayOf(minute))
      const isNoted = (kind: NameKind, name: string) => this.bookName(siteNo, book, kind, name) !== OTHER
      const noted = cellAt(sums, 0, containerId)
      for (const seen of versions?.values() ?? []) {
        if (isNoted('version', versionName(containerId, seen))) seeVersion(noted, seen)
      }
      for (const seen of clients?.values() ?? []) {
        if (isNoted('client', clientName(containerId, seen))) seeClient(noted, seen)
      }
    }
    for (const { containerId, versions, clients } of sums.cells) {
      for (const { version, environment, firstSeenAt, lastSeenAt } of versions?.values() ?? []) {
        this.#push(containerVersions, siteNo, containerId, version, environment, lastSeenAt, firstSeenAt)
      }
      for (const { name, firstSeenAt, lastSeenAt } of clients?.values() ?? []) {
        this.#push(containerClients, siteNo, containerId, name, lastSeenAt, firstSeenAt)
      }
    }
  }

  /** A pair of names over the budget is counted as `(other)` in both. */
  #addHour(siteNo: number, { minute, containerId, lastSeenAt, events }: Cell, budget: RowBudget): void {
    const hour = floorTo(minute, HOUR)
    const other: Counts = []
    for (const name of [...events.keys()].sort()) {
      if (name === NO_EVENT) continue // a batch does not say on which event its tags ran
      const tags = events.get(name)?.tags ?? new Map<string, TagDelta>()
      for (const key of [...tags.keys()].sort()) {
        const outcomes = tags.get(key)?.counts.slice(0, OUTCOME_END) ?? []
        const isOther = name === OTHER && key === OTHER
        if (isOther || !budget.admitsHour(lastSeenAt, hour, containerId, name, key)) addAll(other, outcomes)
        else this.#push(eventTagRollups, siteNo, GRAIN.hour, hour, containerId, name, key, ...outcomes)
      }
    }
    if (other.length > 0) this.#push(eventTagRollups, siteNo, GRAIN.hour, hour, containerId, OTHER, OTHER, ...other)
  }

  /** The cell under the names that it counts under; the same object when no name changes, which is nearly always. */
  #bookNames(siteNo: number, cell: Cell, books: NameBooks): Cell {
    const book = books.book(siteNo, dayOf(cell.minute))
    const nameOf = (kind: NameKind, name: string) => this.bookName(siteNo, book, kind, name)
    const { lastSeenAt } = cell
    const containerId = nameOf('container', cell.containerId)
    let changed = containerId !== cell.containerId
    const fieldNameOf = (eventName: string, field: string) => this.bookField(siteNo, book, eventName, field)
    for (const [name, event] of cell.events) {
      const bookedName = nameOf('event', name)
      changed ||= bookedName !== name
      for (const field of fieldsOf(event).keys()) changed ||= fieldNameOf(bookedName, field) !== field
      for (const [key, tag] of event.tags) {
        const booked = nameOf('tag', key)
        changed ||= booked !== key
        for (const id of tag.ids) this.linkId(siteNo, book, { containerId, id, name: booked, lastSeenAt })
      }
    }
    return changed ? renamed(cell, containerId, nameOf, fieldNameOf) : cell
  }
}

/** Names that cost no budget, because each day has them anyway. */
const isFree = (name: string): boolean => name === OTHER || name === NO_EVENT

/** The signals of those that have any, by name: of most senders none. */
function signalsOf(byName: ReadonlyMap<string, { signals: Counts | undefined }>): Map<string, { counts: Counts }> {
  const found = new Map<string, { counts: Counts }>()
  for (const [name, { signals }] of byName) if (signals !== undefined) found.set(name, { counts: signals })
  return found
}

/** Counts by name, ordered by name; those that are not admitted are summed as `(other)`. */
function withinBudget(
  byName: ReadonlyMap<string, { counts: Counts }>,
  admits: (name: string) => boolean,
): [name: string, counts: Counts][] {
  const rows: [string, Counts][] = []
  let other: Counts | undefined
  for (const name of [...byName.keys()].sort()) {
    const counts = byName.get(name)?.counts ?? []
    if (name !== OTHER && admits(name)) {
      rows.push([name, counts])
    } else {
      other ??= []
      addAll(other, counts)
    }
  }
  return other === undefined ? rows : [...rows, [OTHER, other]]
}
