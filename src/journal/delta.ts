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

/** Counts as they stand in a log, in the order of `EVENT_COLUMNS`, `TAG_COLUMNS` or those of their signals. */
export type Counts = number[]

/** Place of each event counter in a `Counts`. */
export const EVENT = indexOf<keyof EventCounts>(EVENT_COLUMNS)
/** Place of each tag counter in a `Counts`. */
export const TAG = indexOf<keyof TagCounts>(TAG_COLUMNS)

/** Likewise of the signals, which few senders send. */
export const SIGNAL = indexOf<keyof SignalCounts>(SIGNAL_COLUMNS)
export const TAG_SIGNAL = indexOf<keyof TagSignalCounts>(TAG_SIGNAL_COLUMNS)

/** Place of each counter of a parameter of the site's own. */
export const FIELD = indexOf<keyof FieldCounts>(FIELD_COLUMNS)

/** The outcomes stand first in a tag's counts: up to here. */
export const OUTCOME_END = OUTCOMES.length

/** What counts 1 stands for an event as the bits of one number, each by its place. */
export const bitOf = (place: number): number => 1 << place

const NO_SIGNALS: Counts = SIGNAL_COLUMNS.map(() => 0)
const NO_TAG_SIGNALS: Counts = TAG_SIGNAL_COLUMNS.map(() => 0)

/** Executions of one tag on one event, in one minute and container. */
export interface TagDelta {
  counts: Counters
  /** Tag ids that came with this key: nearly always one, but a sender may give one name to any number of ids. See `idsOf`. */
  ids: string | Set<string> | undefined
  /** What the events said on which it ran; undefined where they said nothing. */
  signals: Counters | undefined
}

/** One event name in one minute and container. */
export interface EventDelta {
  counts: Counters
  tags: Map<string, TagDelta>
  /** What the events said beside their counts; undefined where they said nothing. */
  signals: Counters | undefined
  /** How often parameters of the site's own were there, by name; undefined where the events name none. */
  fields: Map<string, Counters> | undefined
  /** Where its counters come from. */
  pool: CounterPool
}

/** What one container of a site reported for one minute. */
export interface Cell extends SeenOnes {
  /** Start of the UTC minute, epoch ms. */
  minute: number
  containerId: string
  /** When the last of it was accepted, epoch ms. */
  lastSeenAt: number
  events: Map<string, EventDelta>
  /** Where its counters come from. */
  pool: CounterPool
}

export interface Usage {
  events: number
  requests: number
}

export interface SiteDelta {
  cells: Cell[]
  /** The cells by minute and container, once there are more than a few. */
  index: Map<string, Cell> | undefined
  /** What counts towards the client's quota, by UTC month of acceptance. */
  usage: Map<number, Usage>
  /** Numbers and texts of the logs it was read from, or fewer: never fewer than it has names and ids. */
  items: number
  /** Where its counters come from. */
  pool: CounterPool
}

export const newSite = (usage: SiteDelta['usage'] = new Map(), pool = new CounterPool()): SiteDelta => ({
  cells: [],
  index: undefined,
  usage,
  items: 0,
  pool,
})

/** Names and ids in a site's counts: the number of rows of its fold is proportional to them. */
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

/** What has been accepted and is not in the rollups yet, summed over many requests. */
export class Delta {
  readonly sites = new Map<number, SiteDelta>()
  /** Of the sites added to, one with the most items. */
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

/** Up to so many cells are searched linearly: most sites have one or two a second, and a map would cost more than it saves. */
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

/** Tag ids that came with the tag's key. */
export function idsOf({ ids }: TagDelta): Iterable<string> {
  if (ids === undefined) return NO_IDS
  return typeof ids === 'string' ? [ids] : ids
}

/** How many that are. */
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

/** The signals of an event, to add to. */
export function signalsIn(event: EventDelta): Counters {
  event.signals ??= event.pool.take(SIGNAL_COLUMNS.length)
  return event.signals
}

/** The signals of a tag of the event, to add to. */
export function tagSignalsIn(event: EventDelta, tag: TagDelta): Counters {
  tag.signals ??= event.pool.take(TAG_SIGNAL_COLUMNS.length)
  return tag.signals
}

/** The counts of a parameter, to add to. */
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

/** Counts of parameters by name. */
export const fieldsOf = ({ fields }: EventDelta): ReadonlyMap<string, Counters> => fields ?? NO_NAMES

/** Adds `theirs` to `ours`, and leaves `theirs` as it is. */
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
