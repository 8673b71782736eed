import {
  EVENT_COLUMNS,
  FIELD_COLUMNS,
  OUTCOMES,
  SIGNAL_COLUMNS,
  TAG_COLUMNS,
  TAG_SIGNAL_COLUMNS,
} from '../rollups/index.ts'
import type { EventCounts, FieldCounts, SignalCounts, TagCounts, TagSignalCounts } from '../store/index.ts'
import { CounterPool, type Counters } from './counters.ts'
import type { SeenOnes } from './seen.ts'

/** Counts as they stand in a log, in the order of `EVENT_COLUMNS`, `TAG_COLUMNS`, `SIGNAL_COLUMNS` or `TAG_SIGNAL_COLUMNS`. */
export type Counts = number[]

/** Place of each event counter in a `Counts`. */
export const EVENT = indexOf<keyof EventCounts>(EVENT_COLUMNS)
/** Place of each tag counter in a `Counts`. */
export const TAG = indexOf<keyof TagCounts>(TAG_COLUMNS)

/** Place of each signal. Signals are apart because few senders report any. */
export const SIGNAL = indexOf<keyof SignalCounts>(SIGNAL_COLUMNS)
export const TAG_SIGNAL = indexOf<keyof TagSignalCounts>(TAG_SIGNAL_COLUMNS)

/** Place of each counter of a site's own parameter. */
export const FIELD = indexOf<keyof FieldCounts>(FIELD_COLUMNS)

/** Outcomes come first in a tag's counts and end before this place. */
export const OUTCOME_END = OUTCOMES.length

/** The mask that counts 1 at this place. */
export const bitOf = (place: number): number => 1 << place

const NO_SIGNALS: Counts = SIGNAL_COLUMNS.map(() => 0)
const NO_TAG_SIGNALS: Counts = TAG_SIGNAL_COLUMNS.map(() => 0)

/** Executions of one tag on one event name, in one minute and container. */
export interface TagDelta {
  counts: Counters
  /** Tag ids that came with this key: nearly always one, but a sender may use one name for any number of ids. See `idsOf`. */
  ids: string | Set<string> | undefined
  /** Signals of the events that the tag ran on; undefined when they reported none. */
  signals: Counters | undefined
}

/** One event name in one minute and container. */
export interface EventDelta {
  counts: Counters
  tags: Map<string, TagDelta>
  /** Signals of the events; undefined when they reported none. */
  signals: Counters | undefined
  /** Counts of the site's own parameters, by name; undefined when no event names one. */
  fields: Map<string, Counters> | undefined
  /** Allocates its counters. */
  pool: CounterPool
}

/** What one container of a site reported for one minute. */
export interface Cell extends SeenOnes {
  /** Start of the UTC minute, epoch ms. */
  minute: number
  containerId: string
  /** When the newest request in it was accepted, epoch ms. */
  lastSeenAt: number
  events: Map<string, EventDelta>
  /** Allocates its counters. */
  pool: CounterPool
}

export interface Usage {
  events: number
  requests: number
}

export interface SiteDelta {
  cells: Cell[]
  /** The cells by minute and container, once there are more than `FEW_CELLS`. */
  index: Map<string, Cell> | undefined
  /** What counts towards the client's quota, by UTC month of acceptance. */
  usage: Map<number, Usage>
  /**
   * An upper bound of its units (`unitsOf`), in numbers and texts of the logs it was read from. Cheap to keep, while counting
   * units visits all of them.
   */
  items: number
  /** Allocates its counters. */
  pool: CounterPool
}

export const newSite = (usage: SiteDelta['usage'] = new Map(), pool = new CounterPool()): SiteDelta => ({
  cells: [],
  index: undefined,
  usage,
  items: 0,
  pool,
})

/** Names and ids in a site's counts. The number of rows that its fold writes is proportional to them. */
export function unitsOf(site: SiteDelta): number {
  let units = 0
  for (const cell of site.cells) for (const event of cell.events.values()) units += unitsOfEvent(event)
  return units
}

function unitsOfEvent(event: EventDelta): number {
  let units = 1 + event.tags.size + (event.fields?.size ?? 0)
  for (const tag of event.tags.values()) units += idCountOf(tag)
  return units
}

/** Sums of requests that were accepted but are not in the rollups yet. */
export class Delta {
  readonly sites = new Map<number, SiteDelta>()
  /** A site with the most items among those added to. */
  largest: SiteDelta | undefined
  readonly #pool = new CounterPool()

  site(siteNo: number): SiteDelta {
    let site = this.sites.get(siteNo)
    if (site === undefined) {
      site = newSite(new Map(), this.#pool)
      this.sites.set(siteNo, site)
    }
    return site
  }

  /** Call it when nothing reads the counts any more. */
  release(): void {
    this.#pool.release()
  }
}

export function addUsage(site: SiteDelta, month: number, events: number, requests: number): void {
  const usage = site.usage.get(month)
  if (usage === undefined) {
    site.usage.set(month, { events, requests })
  } else {
    usage.events += events
    usage.requests += requests
  }
}

/** Up to this many cells are searched linearly: most sites have one or two a second, and a map would cost more than it saves. */
const FEW_CELLS = 4

export function cellAt(site: SiteDelta, minute: number, containerId: string): Cell {
  const { cells } = site
  const found = cells.length <= FEW_CELLS ? lookThrough(cells, minute, containerId) : lookUp(site, minute, containerId)
  if (found !== undefined) return found
  const cell: Cell = {
    minute,
    containerId,
    lastSeenAt: 0,
    events: new Map(),
    versions: undefined,
    clients: undefined,
    pool: site.pool,
  }
  cells.push(cell)
  site.index?.set(cellKey(minute, containerId), cell)
  return cell
}

function lookThrough(cells: readonly Cell[], minute: number, containerId: string): Cell | undefined {
  return cells.findLast((cell) => cell.minute === minute && cell.containerId === containerId)
}

function lookUp(site: SiteDelta, minute: number, containerId: string): Cell | undefined {
  site.index ??= new Map(site.cells.map((cell) => [cellKey(cell.minute, cell.containerId), cell]))
  return site.index.get(cellKey(minute, containerId))
}

const cellKey = (minute: number, containerId: string): string => `${minute}|${containerId}`

export const newEvent = (pool: CounterPool): EventDelta => ({
  counts: pool.take(EVENT_COLUMNS.length),
  tags: new Map(),
  signals: undefined,
  fields: undefined,
  pool,
})

export function eventIn(cell: Cell, name: string): EventDelta {
  let event = cell.events.get(name)
  if (event === undefined) {
    event = newEvent(cell.pool)
    cell.events.set(name, event)
  }
  return event
}

export function tagIn(event: EventDelta, key: string): TagDelta {
  let tag = event.tags.get(key)
  if (tag === undefined) {
    tag = { counts: event.pool.take(TAG_COLUMNS.length), ids: undefined, signals: undefined }
    event.tags.set(key, tag)
  }
  return tag
}

const NO_IDS: readonly string[] = []

/** The tag ids that came with the tag's key. */
export function idsOf({ ids }: TagDelta): Iterable<string> {
  if (ids === undefined) return NO_IDS
  return typeof ids === 'string' ? [ids] : ids
}

/** The number of `idsOf`. */
export function idCountOf({ ids }: TagDelta): number {
  if (ids === undefined) return 0
  return typeof ids === 'string' ? 1 : ids.size
}

export function addId(tag: TagDelta, id: string): void {
  const { ids } = tag
  if (ids === undefined) tag.ids = id
  else if (typeof ids !== 'string') ids.add(id)
  else if (ids !== id) tag.ids = new Set([ids, id])
}

export const noSignals = (): Counts => NO_SIGNALS.slice()
export const noTagSignals = (): Counts => NO_TAG_SIGNALS.slice()

/** The event's signals to add to; creates them if needed. */
export function signalsIn(event: EventDelta): Counters {
  event.signals ??= event.pool.take(SIGNAL_COLUMNS.length)
  return event.signals
}

/** The signals of one of the event's tags to add to; creates them if needed. */
export function tagSignalsIn(event: EventDelta, tag: TagDelta): Counters {
  tag.signals ??= event.pool.take(TAG_SIGNAL_COLUMNS.length)
  return tag.signals
}

/** The counts of a parameter to add to; creates them if needed. */
export function fieldIn(event: EventDelta, name: string): Counters {
  event.fields ??= new Map()
  let counts = event.fields.get(name)
  if (counts === undefined) {
    counts = event.pool.take(FIELD_COLUMNS.length)
    event.fields.set(name, counts)
  }
  return counts
}

const NO_NAMES: ReadonlyMap<string, Counters> = new Map()

/** Counts of the site's own parameters, by name. */
export const fieldsOf = ({ fields }: EventDelta): ReadonlyMap<string, Counters> => fields ?? NO_NAMES

/** Adds `theirs` to `ours` and leaves `theirs` unchanged. */
export function absorbEvent(ours: EventDelta, theirs: EventDelta): void {
  absorbEventCounts(ours, theirs)
  for (const [name, counts] of fieldsOf(theirs)) fieldIn(ours, name).addAll(counts)
  for (const [key, tag] of theirs.tags) absorbTag(ours, key, tag)
}

/** The same without tags and parameters. */
export function absorbEventCounts(ours: EventDelta, theirs: EventDelta): void {
  ours.counts.addAll(theirs.counts)
  if (theirs.signals !== undefined) signalsIn(ours).addAll(theirs.signals)
}

/** Adds `theirs` to the event's tag `key`. */
export function absorbTag(event: EventDelta, key: string, theirs: TagDelta): void {
  const ours = absorbTagCounts(event, key, theirs)
  for (const id of idsOf(theirs)) addId(ours, id)
}

/** The same without the ids. Returns the event's tag. */
export function absorbTagCounts(event: EventDelta, key: string, theirs: TagDelta): TagDelta {
  const ours = tagIn(event, key)
  ours.counts.addAll(theirs.counts)
  if (theirs.signals !== undefined) tagSignalsIn(event, ours).addAll(theirs.signals)
  return ours
}

function indexOf<K extends string>(columns: readonly K[]): Readonly<Record<K, number>> {
  return Object.fromEntries(columns.map((column, index) => [column, index])) as Record<K, number>
}
