import { OTHER } from '../rollups/index.ts'
import {
  absorbEvent,
  absorbEventCounts,
  absorbTag,
  type Cell,
  cellAt,
  eventIn,
  fieldIn,
  fieldsOf,
  newEvent,
  newSite,
  type TagDelta,
} from './delta.ts'
import type { NameKind } from './names.ts'
import { absorbSeen } from './seen.ts'

/** Sums cells that have the same minute and container after renaming, such as those of `(other)`, so that they are one part. */
export function mergeAlike(cells: readonly Cell[]): Cell[] {
  if (!cells.some((cell) => cell.containerId === OTHER)) return [...cells]
  const merged = newSite()
  for (const cell of cells) {
    const target = cellAt(merged, cell.minute, cell.containerId)
    target.lastSeenAt = Math.max(target.lastSeenAt, cell.lastSeenAt)
    absorbSeen(target, cell)
    for (const [name, event] of cell.events) absorbEvent(eventIn(target, name), event)
  }
  return merged.cells.sort(byTimeAndContainer)
}

/** The same counts under other names; counts that end up under the same name are summed. */
export function renamed(
  cell: Cell,
  containerId: string,
  nameOf: (kind: NameKind, name: string) => string,
  fieldNameOf: (eventName: string, field: string) => string,
): Cell {
  const booked: Cell = { ...cell, containerId, events: new Map() }
  for (const [name, event] of cell.events) {
    const bookedName = nameOf('event', name)
    const target = eventIn(booked, bookedName)
    absorbEventCounts(target, event)
    for (const [field, counts] of fieldsOf(event)) fieldIn(target, fieldNameOf(bookedName, field)).addAll(counts)
    for (const [key, tag] of event.tags) absorbTag(target, nameOf('tag', key), tag)
  }
  return booked
}

/** Executions by tag over all events of a cell. */
export function tagsOf(cell: Cell): Map<string, TagDelta> {
  const [first, ...others] = cell.events.values()
  if (first === undefined) return new Map()
  if (others.length === 0) return first.tags
  const sum = newEvent(first.pool)
  for (const event of cell.events.values()) absorbEvent(sum, event)
  return sum.tags
}

/** How much work a cell is: its events, the tags on them and their parameters. */
export function unitsOfCell({ events }: Cell): number {
  let units = events.size
  for (const { tags, fields } of events.values()) units += tags.size + (fields?.size ?? 0)
  return units
}

export function lastSeen(cells: readonly Cell[]): Map<string, number> {
  const seen = new Map<string, number>()
  for (const { containerId, lastSeenAt } of cells) {
    seen.set(containerId, Math.max(seen.get(containerId) ?? 0, lastSeenAt))
  }
  return seen
}

export const byTimeAndContainer = (a: Cell, b: Cell): number =>
  a.minute - b.minute || (a.containerId < b.containerId ? -1 : a.containerId > b.containerId ? 1 : 0)
