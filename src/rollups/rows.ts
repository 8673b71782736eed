import { floorTo, HOUR } from '../lib/index.ts'
import type { BatchOperation, SqlValue, UpsertSpec } from '../store/index.ts'
import {
  clientUsage,
  dailyNames,
  eventRollups,
  eventTagRollups,
  GRAIN,
  NO_EVENT,
  OTHER,
  rollupMarks,
  siteContainers,
  tagNames,
  tagRollups,
} from './columns.ts'
import {
  absorbEvent,
  absorbTag,
  addAll,
  type Cell,
  type EventDelta,
  eventIn,
  newEvent,
  OUTCOME_END,
  type SiteDelta,
  type TagDelta,
  tagIn,
  type Usage,
} from './delta.ts'
import { LOCK_ORDER } from './lock-order.ts'
import type { NameBook, NameBooks, NameKind } from './names.ts'
import { dayOf } from './names.ts'

/** Rows of one fold transaction, gathered by table. */
export class FoldRows {
  readonly #values = new Map<UpsertSpec, SqlValue[]>()
  readonly #usage = new Map<string, Map<number, Usage>>()
  #count = 0

  /** Rows gathered so far. */
  get count(): number {
    return this.#count
  }

  /** Adds everything one site reported. Best in ascending order: then there is nothing left to sort for the engine. */
  addSite(siteNo: number, clientId: string, site: SiteDelta, books: NameBooks): void {
    const cells = site.cells.toSorted(byTimeAndContainer).map((cell) => this.#bookNames(siteNo, cell, books))
    this.addUsage(clientId, site)
    for (const cell of cells) {
      this.#addEvents(siteNo, cell)
      this.#addTags(siteNo, cell)
    }
    for (const cell of mergeByHour(cells)) this.#addHour(siteNo, cell)
    for (const hour of new Set(cells.map((cell) => floorTo(cell.minute, HOUR)))) {
      this.#push(rollupMarks, siteNo, GRAIN.hour, hour, 1)
    }
    for (const [containerId, lastSeenAt] of lastSeen(cells)) this.#push(siteContainers, siteNo, containerId, lastSeenAt)
  }

  /** Adds what a site's client used, and nothing else. */
  addUsage(clientId: string, site: SiteDelta): void {
    for (const [month, usage] of site.usage) this.#addUsage(clientId, month, usage)
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

  #addEvents(siteNo: number, cell: Cell): void {
    for (const name of [...cell.events.keys()].sort()) {
      const event = cell.events.get(name)
      if (event !== undefined) {
        this.#push(eventRollups, siteNo, GRAIN.minute, cell.minute, cell.containerId, name, ...event.counts)
      }
    }
  }

  #addTags(siteNo: number, cell: Cell): void {
    const tags = tagsOf(cell)
    for (const key of [...tags.keys()].sort()) {
      const tag = tags.get(key)
      if (tag !== undefined) {
        this.#push(tagRollups, siteNo, GRAIN.minute, cell.minute, cell.containerId, key, ...tag.counts)
      }
    }
  }

  #addHour(siteNo: number, cell: Cell): void {
    const hour = floorTo(cell.minute, HOUR)
    for (const name of [...cell.events.keys()].sort()) {
      if (name === NO_EVENT) continue // a batch does not say on which event its tags ran
      const tags = cell.events.get(name)?.tags ?? new Map<string, TagDelta>()
      for (const key of [...tags.keys()].sort()) {
        const outcomes = tags.get(key)?.counts.slice(0, OUTCOME_END) ?? []
        this.#push(eventTagRollups, siteNo, GRAIN.hour, hour, cell.containerId, name, key, ...outcomes)
      }
    }
  }

  /** The cell under the names it is to be counted by; the same object when no name changes, which is nearly always. */
  #bookNames(siteNo: number, cell: Cell, books: NameBooks): Cell {
    const day = dayOf(cell.minute)
    const book = books.book(siteNo, day)
    const nameOf = (kind: NameKind, name: string) =>
      book.book(kind, name, (admitted) => this.#push(dailyNames, siteNo, day, kind, admitted))
    let changed = false
    for (const [name, event] of cell.events) {
      changed ||= nameOf('event', name) !== name
      for (const [key, tag] of event.tags) {
        const booked = nameOf('tag', key)
        changed ||= booked !== key
        this.#linkIds(siteNo, cell, book, booked, tag)
      }
    }
    return changed ? renamed(cell, nameOf) : cell
  }

  #linkIds(siteNo: number, cell: Cell, book: NameBook, name: string, tag: TagDelta): void {
    if (name === OTHER) return // many tags share it: it is the name of none
    for (const id of tag.ids) {
      if (book.linkId(cell.containerId, id, name)) {
        this.#push(tagNames, siteNo, cell.containerId, id, name, cell.lastSeenAt)
      }
    }
  }
}

/** The same counts under other names; what falls together is added up. */
function renamed(cell: Cell, nameOf: (kind: NameKind, name: string) => string): Cell {
  const booked: Cell = { ...cell, events: new Map() }
  for (const [name, event] of cell.events) {
    const target = eventIn(booked, nameOf('event', name))
    addAll(target.counts, event.counts)
    for (const [key, tag] of event.tags) absorbTag(tagIn(target, nameOf('tag', key)), tag)
  }
  return booked
}

/** Executions by tag over all events of a cell. */
function tagsOf(cell: Cell): Map<string, TagDelta> {
  const [first, ...others] = cell.events.values()
  if (first === undefined) return new Map()
  if (others.length === 0) return first.tags
  const sum = newEvent()
  for (const event of cell.events.values()) absorbEvent(sum, event)
  return sum.tags
}

/** One cell an hour and container; its `minute` is the first of those that went in. */
function mergeByHour(cells: readonly Cell[]): Cell[] {
  if (cells.length <= 1) return [...cells]
  const merged = new Map<string, Cell>()
  for (const cell of cells) {
    const key = `${floorTo(cell.minute, HOUR)}|${cell.containerId}`
    const target = merged.get(key) ?? { ...cell, events: new Map<string, EventDelta>() }
    merged.set(key, target)
    for (const [name, event] of cell.events) absorbEvent(eventIn(target, name), event)
  }
  return [...merged.values()]
}

function lastSeen(cells: readonly Cell[]): Map<string, number> {
  const seen = new Map<string, number>()
  for (const { containerId, lastSeenAt } of cells) {
    seen.set(containerId, Math.max(seen.get(containerId) ?? 0, lastSeenAt))
  }
  return seen
}

const byTimeAndContainer = (a: Cell, b: Cell): number =>
  a.minute - b.minute || (a.containerId < b.containerId ? -1 : a.containerId > b.containerId ? 1 : 0)
