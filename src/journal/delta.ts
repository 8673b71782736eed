import {
  EVENT_COLUMNS,
  FIELD_COLUMNS,
  OUTCOMES,
  SIGNAL_COLUMNS,
  TAG_COLUMNS,
  TAG_SIGNAL_COLUMNS,
} from '../rollups/index.ts'
import type { EventCounts, FieldCounts, SignalCounts, TagCounts, TagSignalCounts } from '../store/index.ts'

/** Counts in the order of `EVENT_COLUMNS`, `TAG_COLUMNS` or those of their signals. */
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

const NO_EVENTS: Counts = EVENT_COLUMNS.map(() => 0)
const NO_EXECUTIONS: Counts = TAG_COLUMNS.map(() => 0)
const NO_SIGNALS: Counts = SIGNAL_COLUMNS.map(() => 0)
const NO_FIELDS: Counts = FIELD_COLUMNS.map(() => 0)
const NO_TAG_SIGNALS: Counts = TAG_SIGNAL_COLUMNS.map(() => 0)

/** Executions of one tag on one event, in one minute and container. */
export interface TagDelta {
  counts: Counts
  /** Tag ids that came with this key; a set, because a sender may give one name to any number of ids. */
  ids: Set<string>
  /** What the events said on which it ran; undefined where they said nothing. */
  signals: Counts | undefined
}

/** One event name in one minute and container. */
export interface EventDelta {
  counts: Counts
  tags: Map<string, TagDelta>
  /** What the events said beside their counts; undefined where they said nothing. */
  signals: Counts | undefined
  /** How often parameters of the site's own were there, by name; undefined where the events name none. */
  fields: Map<string, Counts> | undefined
}

/** Times of acceptance, epoch ms. */
interface Seen {
  firstSeenAt: number
  lastSeenAt: number
}

/** A version of a container that sent something. */
export interface VersionSeen extends Seen {
  version: string
  environment: string
}

/** A client of a container that claimed events. */
export interface ClientSeen extends Seen {
  name: string
}

/** What one container of a site reported for one minute. */
export interface Cell {
  /** Start of the UTC minute, epoch ms. */
  minute: number
  containerId: string
  /** When the last of it was accepted, epoch ms. */
  lastSeenAt: number
  events: Map<string, EventDelta>
  /** Those that said which they are; undefined where none did. */
  versions: Map<string, VersionSeen> | undefined
  /** Likewise. */
  clients: Map<string, ClientSeen> | undefined
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
}

export const newSite = (usage: SiteDelta['usage'] = new Map()): SiteDelta => ({
  cells: [],
  index: undefined,
  usage,
  items: 0,
})

/** Names and ids in a site's counts: the number of rows of its fold is proportional to them. */
export function unitsOf(site: SiteDelta): number {
  let units = 0
  for (const cell of site.cells) for (const event of cell.events.values()) units += unitsOfEvent(event)
  return units
}

function unitsOfEvent(event: EventDelta): number {
  let units = 1 + event.tags.size + (event.fields?.size ?? 0)
  for (const { ids } of event.tags.values()) units += ids.size
  return units
}

/** What has been accepted and is not in the rollups yet, summed over many requests. */
export class Delta {
  readonly sites = new Map<number, SiteDelta>()
  /** Of the sites added to, one with the most items. */
  largest: SiteDelta | undefined

  site(siteNo: number): SiteDelta {
    let site = this.sites.get(siteNo)
    if (site === undefined) {
      site = newSite()
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
  const cell: Cell = { minute, containerId, lastSeenAt: 0, events: new Map(), versions: undefined, clients: undefined }
  cells.push(cell)
  site.index?.set(cellKey(minute, containerId), cell)
  return cell
}

export function seeVersion(cell: Cell, seen: VersionSeen): void {
  cell.versions ??= new Map()
  see(cell.versions, `${seen.version}\0${seen.environment}`, seen)
}

export function seeClient(cell: Cell, seen: ClientSeen): void {
  cell.clients ??= new Map()
  see(cell.clients, seen.name, seen)
}

function see<T extends Seen>(all: Map<string, T>, key: string, seen: T): void {
  const known = all.get(key)
  if (known === undefined) {
    all.set(key, { ...seen })
    return
  }
  known.firstSeenAt = Math.min(known.firstSeenAt, seen.firstSeenAt)
  known.lastSeenAt = Math.max(known.lastSeenAt, seen.lastSeenAt)
}

/** Adds the versions and clients of `theirs` to `ours`. */
export function absorbSeen(ours: Cell, { versions, clients }: Cell): void {
  if (versions !== undefined) for (const seen of versions.values()) seeVersion(ours, seen)
  if (clients !== undefined) for (const seen of clients.values()) seeClient(ours, seen)
}

function lookThrough(cells: readonly Cell[], minute: number, containerId: string): Cell | undefined {
  return cells.findLast((cell) => cell.minute === minute && cell.containerId === containerId)
}

function lookUp(site: SiteDelta, minute: number, containerId: string): Cell | undefined {
  site.index ??= new Map(site.cells.map((cell) => [cellKey(cell.minute, cell.containerId), cell]))
  return site.index.get(cellKey(minute, containerId))
}

const cellKey = (minute: number, containerId: string): string => `${minute}|${containerId}`

export const newEvent = (): EventDelta => ({
  counts: NO_EVENTS.slice(),
  tags: new Map(),
  signals: undefined,
  fields: undefined,
})

export function eventIn(cell: Cell, name: string): EventDelta {
  let event = cell.events.get(name)
  if (event === undefined) {
    event = newEvent()
    cell.events.set(name, event)
  }
  return event
}

export function tagIn(event: EventDelta, key: string): TagDelta {
  let tag = event.tags.get(key)
  if (tag === undefined) {
    tag = { counts: NO_EXECUTIONS.slice(), ids: new Set(), signals: undefined }
    event.tags.set(key, tag)
  }
  return tag
}

export const noSignals = (): Counts => NO_SIGNALS.slice()
export const noTagSignals = (): Counts => NO_TAG_SIGNALS.slice()

/** The signals of an event, to add to. */
export function signalsIn(event: EventDelta): Counts {
  event.signals ??= noSignals()
  return event.signals
}

/** The signals of a tag, to add to. */
export function tagSignalsIn(tag: TagDelta): Counts {
  tag.signals ??= noTagSignals()
  return tag.signals
}

/** The counts of a parameter, to add to. */
export function fieldIn(event: EventDelta, name: string): Counts {
  event.fields ??= new Map()
  let counts = event.fields.get(name)
  if (counts === undefined) {
    counts = NO_FIELDS.slice()
    event.fields.set(name, counts)
  }
  return counts
}

/** Adds `n` to the counter at `index`. */
export function add(counts: Counts, index: number, n: number): void {
  counts[index] = (counts[index] ?? 0) + n
}

export function addAll(counts: Counts, others: Counts): void {
  for (let i = 0; i < others.length; i++) counts[i] = (counts[i] ?? 0) + (others[i] ?? 0)
}

const NO_NAMES: ReadonlyMap<string, Counts> = new Map()

/** Counts of parameters by name. */
export const fieldsOf = ({ fields }: EventDelta): ReadonlyMap<string, Counts> => fields ?? NO_NAMES

/** Adds `theirs` to `ours`, and leaves `theirs` as it is. */
export function absorbEvent(ours: EventDelta, theirs: EventDelta): void {
  absorbEventCounts(ours, theirs)
  for (const [name, counts] of fieldsOf(theirs)) addAll(fieldIn(ours, name), counts)
  for (const [key, tag] of theirs.tags) absorbTag(tagIn(ours, key), tag)
}

/** The same without tags and parameters. */
export function absorbEventCounts(ours: EventDelta, theirs: EventDelta): void {
  addAll(ours.counts, theirs.counts)
  if (theirs.signals !== undefined) addAll(signalsIn(ours), theirs.signals)
}

export function absorbTag(ours: TagDelta, theirs: TagDelta): void {
  absorbTagCounts(ours, theirs)
  for (const id of theirs.ids) ours.ids.add(id)
}

/** The same without the ids. */
export function absorbTagCounts(ours: TagDelta, theirs: TagDelta): void {
  addAll(ours.counts, theirs.counts)
  if (theirs.signals !== undefined) addAll(tagSignalsIn(ours), theirs.signals)
}

function indexOf<K extends string>(columns: readonly K[]): Readonly<Record<K, number>> {
  return Object.fromEntries(columns.map((column, index) => [column, index])) as Record<K, number>
}
