import { floorTo, HOUR, monthOf } from '../lib/index.ts'
import { appendPayload } from './append-payload.ts'
import { addUsage, cellAt, Delta } from './delta.ts'
import { EventLayout, type PackedEvents } from './event-layout.ts'
import type { EventPayload } from './payload.ts'
import { addLog, type Log } from './row.ts'
import { seeVersion, type VersionSeen } from './seen.ts'

/** The sender that all events of a cell share. */
interface Sender {
  containerId: string
  versions: readonly VersionSeen[]
}

/** What an event adds to a delta, except for its time. */
interface Known {
  sender: Sender
  layout: EventLayout
  packed: PackedEvents
  /** Events it counts towards the quota. */
  quota: number
}

/** Sums of one sender in one minute, all accepted within one hour, and so within one month. */
interface Open {
  sender: Sender
  minute: number
  hour: number
  firstAt: number
  lastAt: number
  quota: number
  requests: number
}

/**
 * Counts events that repeat, as in a generated history. What an event counts is worked out once, by the code that all events
 * take, and then only added. With events drawn from a few kinds, a history of eight days took three quarters of the processor
 * time.
 */
export class RepeatedEvents {
  readonly #siteNo: number
  readonly #known: (Known | undefined)[] = []
  readonly #senders = new Map<string, Sender>()
  readonly #layouts = new Map<string, EventLayout>()
  #open: Open | undefined

  constructor(siteNo: number) {
    this.#siteNo = siteNo
  }

  /**
   * Adds an event's counts to the delta, at the latest on `finish`.
   *
   * @param id a small number shared by all events that differ only in their time @param event returns one of them @param minute
   * the minute that it counts in, epoch ms @param at when it is accepted, epoch ms
   */
  add(delta: Delta, id: number, event: () => EventPayload, minute: number, at: number): void {
    const known = this.#known[id] ?? this.#learn(id, event())
    const open = this.#openAt(delta, known.sender, minute, at)
    open.lastAt = Math.max(open.lastAt, at)
    open.firstAt = Math.min(open.firstAt, at)
    open.quota += known.quota
    open.requests++
    known.layout.add(known.packed)
  }

  /** Adds what is still pending. */
  finish(delta: Delta): void {
    const open = this.#open
    if (open === undefined) return
    const site = delta.site(this.#siteNo)
    addUsage(site, monthOf(open.hour), open.quota, open.requests)
    const cell = cellAt(site, open.minute, open.sender.containerId)
    cell.lastSeenAt = Math.max(cell.lastSeenAt, open.lastAt)
    for (const version of open.sender.versions) {
      seeVersion(cell, { ...version, firstSeenAt: open.firstAt, lastSeenAt: open.lastAt })
    }
    for (const layout of this.#layouts.values()) site.items += layout.moveTo(cell)
    if (delta.largest === undefined || site.items > delta.largest.items) delta.largest = site
    this.#open = undefined
  }

  #openAt(delta: Delta, sender: Sender, minute: number, at: number): Open {
    const open = this.#open
    const isIn = open !== undefined && at >= open.hour && at < open.hour + HOUR
    if (isIn && open.minute === minute && open.sender === sender) return open
    this.finish(delta)
    this.#open = { sender, minute, hour: floorTo(at, HOUR), firstAt: at, lastAt: at, quota: 0, requests: 0 }
    return this.#open
  }

  /** @throws Error when the event names clients or counts in no cell, as previews do; a generated history has neither */
  #learn(id: number, event: EventPayload): Known {
    const log: Log = []
    appendPayload(log, 0, event, event.timestamp_ms)
    const delta = new Delta()
    addLog(delta, log)
    const site = delta.site(0)
    const [cell] = site.cells
    const [counted] = cell?.events ?? []
    if (cell === undefined || counted === undefined || cell.clients !== undefined) {
      throw new Error('an event that names clients, or is of a preview, cannot be counted again and again')
    }
    const [name, ofEvent] = counted
    const layout = this.#layouts.get(name) ?? new EventLayout(name)
    this.#layouts.set(name, layout)
    const known = {
      sender: this.#senderOf(cell.containerId, [...(cell.versions?.values() ?? [])]),
      layout,
      packed: layout.pack(ofEvent),
      quota: Array.from(site.usage.values()).reduce((sum, { events }) => sum + events, 0),
    }
    this.#known[id] = known
    return known
  }

  #senderOf(containerId: string, versions: readonly VersionSeen[]): Sender {
    const key = [containerId, ...versions.flatMap(({ version, environment }) => [version, environment])].join('\0')
    const sender = this.#senders.get(key) ?? { containerId, versions }
    this.#senders.set(key, sender)
    return sender
  }
}
