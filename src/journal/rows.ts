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
  oneWrite,
  signalRollups,
  siteContainers,
  tagNames,
  tagRollups,
  tagSignalRollups,
} from '../rollups/index.ts'
import type { BatchOperation, SqlValue, UpsertSpec } from '../store/index.ts'
import { byTimeAndContainer, lastSeen, mergeAlike, mergeByHour, renamed, tagsOf, unitsOfCell } from './cells.ts'
import type { CounterPool, Counters } from './counters.ts'
import { type Cell, cellAt, fieldsOf, idsOf, newSite, OUTCOME_END, type SiteDelta, type Usage } from './delta.ts'
import type { NameBook, NameBooks, NameKind, TagLink } from './names.ts'
import { clientName, dayOf, fieldKey, versionName } from './names.ts'
import type { RowBudget } from './row-budget.ts'
import { seeClient, seeVersion } from './seen.ts'

/** Events and tags of a site that are turned into rows without yielding: some 2 ms. */
const UNITS_PER_TURN = 250

/** The rows of one fold transaction, gathered by table. */
export class FoldRows {
  readonly #values = new Map<UpsertSpec, SqlValue[]>()
  readonly #usage = new Map<string, Map<number, Usage>>()
  #count = 0

  /** Rows gathered so far. */
  get count(): number {
    return this.#count
  }

  /**
   * Adds a site's counts, yielding in between. Call it in ascending order of `siteNo`, so that the engine has nothing left to
   * sort.
   *
   * Measured with 300 events a second, each in another minute, with 40 tags: without yielding, a second's sum took 50 ms.
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
      this.#push(dirtyBuckets, siteNo, GRAIN.hour, hour, oneWrite())
    }
    for (const [containerId, lastSeenAt] of lastSeen(cells))
      this.#push(siteContainers, siteNo, containerId, 1, lastSeenAt)
    this.#addSeen(siteNo, cells, books)
  }

  /** Adds the usage of a site's client and nothing else. */
  addUsage(clientId: string, site: SiteDelta): void {
    for (const [month, usage] of site.usage) this.#addUsage(clientId, month, usage)
  }

  /** Returns the name to count `name` under on the book's day. Writes the name if it is new and fits under the cap. */
  bookName(siteNo: number, book: NameBook, kind: NameKind, name: string): string {
    return book.book(kind, name, (admitted) => this.#push(dailyNames, siteNo, book.day, kind, admitted))
  }

  /** Returns the name to count a site's own parameter under. @param eventName the name that its event is booked under */
  bookField(siteNo: number, book: NameBook, eventName: string, field: string): string {
    const name = storable(field)
    if (name === OTHER) return name
    return this.bookName(siteNo, book, 'field', fieldKey(eventName, name)) === OTHER ? OTHER : name
  }

  /** Writes a tag id's name, unless it is written already or the book's day has too many links. */
  linkId(siteNo: number, book: NameBook, tagLink: TagLink): void {
    const { containerId, id, name, lastSeenAt } = tagLink
    if (name === OTHER || containerId === OTHER) return // shared by many: the name of none
    const link = book.linkId(tagLink)
    if (link === 'link') this.#push(tagNames, siteNo, containerId, id, name, lastSeenAt)
    // This row records that; reports leave out the name `(other)`.
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
    this.#row(spec).push(...row)
  }

  /** Counts a new row and returns the list to append it to. */
  #row(spec: UpsertSpec): SqlValue[] {
    this.#count++
    const known = this.#values.get(spec)
    if (known !== undefined) return known
    const values: SqlValue[] = []
    this.#values.set(spec, values)
    return values
  }

  /** Adds the row of one name's counts in a minute. */
  #pushMinute(spec: UpsertSpec, siteNo: number, { minute, containerId }: Cell, name: string, counts: Counters): void {
    const row = this.#row(spec)
    row.push(siteNo, GRAIN.minute, minute, containerId, name)
    counts.appendTo(row)
  }

  #addUsage(clientId: string, month: number, { events, requests }: Usage): void {
    const months = this.#usage.get(clientId) ?? new Map<number, Usage>()
    const before = months.get(month) ?? { events: 0, requests: 0 }
    months.set(month, { events: before.events + events, requests: before.requests + requests })
    this.#usage.set(clientId, months)
  }

  #addEvents(siteNo: number, cell: Cell, budget: RowBudget): void {
    const { minute, containerId, lastSeenAt, events, pool } = cell
    const admits = (kind: 'event' | 'signal') => (name: string) =>
      isFree(name) || budget.admitsMinute(lastSeenAt, minute, containerId, kind, name)
    for (const [name, counts] of withinBudget(events, admits('event'), pool))
      this.#pushMinute(eventRollups, siteNo, cell, name, counts)
    for (const [name, counts] of withinBudget(signalsOf(events), admits('signal'), pool))
      this.#pushMinute(signalRollups, siteNo, cell, name, counts)
  }

  /** A pair of names over the budget counts as `(other)` in both. */
  #addFields(siteNo: number, { minute, containerId, lastSeenAt, events, pool }: Cell, budget: RowBudget): void {
    const push = (name: string, field: string, counts: Counters) => {
      const row = this.#row(fieldRollups)
      row.push(siteNo, GRAIN.minute, minute, containerId, name, field)
      counts.appendTo(row)
    }
    let other: Counters | undefined
    for (const [name, event] of sortedByName([...events].filter(([, { fields }]) => fields !== undefined))) {
      for (const [field, counts] of sortedByName(fieldsOf(event))) {
        const isOther = name === OTHER && field === OTHER
        if (isOther || !budget.admitsMinute(lastSeenAt, minute, containerId, 'field', name, field))
          other = sumOf(other, counts, pool)
        else push(name, field, counts)
      }
    }
    if (other !== undefined) push(OTHER, OTHER, other)
  }

  #addTags(siteNo: number, cell: Cell, budget: RowBudget): void {
    const { minute, containerId, lastSeenAt, pool } = cell
    const admits = (kind: 'tag' | 'tag signal') => (key: string) =>
      isFree(key) || budget.admitsMinute(lastSeenAt, minute, containerId, kind, key)
    const tags = tagsOf(cell)
    for (const [key, counts] of withinBudget(tags, admits('tag'), pool))
      this.#pushMinute(tagRollups, siteNo, cell, key, counts)
    for (const [key, counts] of withinBudget(signalsOf(tags), admits('tag signal'), pool))
      this.#pushMinute(tagSignalRollups, siteNo, cell, key, counts)
  }

  /** Past the day's cap, versions and clients are not recorded: no count depends on them. */
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

  /** A pair of names over the budget counts as `(other)` in both. */
  #addHour(siteNo: number, { minute, containerId, lastSeenAt, events, pool }: Cell, budget: RowBudget): void {
    const hour = floorTo(minute, HOUR)
    const push = (name: string, key: string, counts: Counters) => {
      const row = this.#row(eventTagRollups)
      row.push(siteNo, GRAIN.hour, hour, containerId, name, key)
      counts.appendTo(row, OUTCOME_END)
    }
    let other: Counters | undefined
    for (const [name, { tags }] of sortedByName(events)) {
      if (name === NO_EVENT) continue // a batch does not say on which event its tags ran
      for (const [key, { counts }] of sortedByName(tags)) {
        const isOther = name === OTHER && key === OTHER
        if (isOther || !budget.admitsHour(lastSeenAt, hour, containerId, name, key)) other = sumOf(other, counts, pool)
        else push(name, key, counts)
      }
    }
    if (other !== undefined) push(OTHER, OTHER, other)
  }

  /** The cell under its booked names. Nearly always no name changes, and it is the same object. */
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
        for (const id of idsOf(tag)) this.linkId(siteNo, book, { containerId, id, name: booked, lastSeenAt })
      }
    }
    return changed ? renamed(cell, containerId, nameOf, fieldNameOf) : cell
  }
}

/** Names that take no budget, because every day has them anyway. */
const isFree = (name: string): boolean => name === OTHER || name === NO_EVENT

/** The signals by name of those that have any; most senders report none. */
function signalsOf(byName: ReadonlyMap<string, { signals: Counters | undefined }>): Map<string, { counts: Counters }> {
  const found = new Map<string, { counts: Counters }>()
  for (const [name, { signals }] of byName) if (signals !== undefined) found.set(name, { counts: signals })
  return found
}

const sortedByName = <T>(byName: Iterable<[string, T]>): [name: string, of: T][] =>
  [...byName].sort(([a], [b]) => (a < b ? -1 : 1))

/** Adds `counts` to `sum`, or to new counters when there is no sum yet. */
function sumOf(sum: Counters | undefined, counts: Counters, pool: CounterPool): Counters {
  const into = sum ?? pool.take(counts.width)
  into.addAll(counts)
  return into
}

/** Counts sorted by name; those not admitted are summed as `(other)`. */
function withinBudget(
  byName: ReadonlyMap<string, { counts: Counters }>,
  admits: (name: string) => boolean,
  pool: CounterPool,
): [name: string, counts: Counters][] {
  const rows: [string, Counters][] = []
  let other: Counters | undefined
  for (const [name, { counts }] of sortedByName(byName)) {
    if (name !== OTHER && admits(name)) rows.push([name, counts])
    else other = sumOf(other, counts, pool)
  }
  return other === undefined ? rows : [...rows, [OTHER, other]]
}
