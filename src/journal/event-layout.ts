import { EVENT_COLUMNS, FIELD_COLUMNS, SIGNAL_COLUMNS, TAG_COLUMNS, TAG_SIGNAL_COLUMNS } from '../rollups/index.ts'
import type { Counters } from './counters.ts'
import {
  addId,
  type Cell,
  type EventDelta,
  eventIn,
  fieldIn,
  fieldsOf,
  idsOf,
  signalsIn,
  tagIn,
  tagSignalsIn,
} from './delta.ts'

/** The range of an event's packed counts in its layout. */
export interface PackedEvents {
  from: number
  to: number
}

/** Marks a place whose count is not 1: the count follows it. */
const MANY = 1 << 30

const [EVENT_WIDTH, TAG_WIDTH] = [EVENT_COLUMNS.length, TAG_COLUMNS.length]
const SIGNALS_END = EVENT_WIDTH + SIGNAL_COLUMNS.length
const TAG_END = TAG_WIDTH + TAG_SIGNAL_COLUMNS.length

/**
 * All counters of one event name, with its tags and fields, in one flat list. Each event of that name is packed into a second
 * list: the places it counts in, some 75 numbers. As separate objects they were so many that most of the time went into memory
 * stalls.
 */
export class EventLayout {
  readonly #name: string
  readonly #tags = new Map<string, { start: number; ids: readonly string[] }>()
  readonly #fields = new Map<string, number>()
  #width = SIGNALS_END
  #counts = new Float64Array(1_024)
  #isEmpty = true
  #packed = new Int32Array(1_024)
  #used = 0

  constructor(name: string) {
    this.#name = name
  }

  /** Packs an event's counts for `add`. @throws Error when a tag has other ids than in an earlier event */
  pack(event: EventDelta): PackedEvents {
    const from = this.#used
    this.#packAll(0, event.counts)
    if (event.signals !== undefined) this.#packAll(EVENT_WIDTH, event.signals)
    for (const [field, counts] of fieldsOf(event)) {
      const start = this.#fields.get(field) ?? this.#take(FIELD_COLUMNS.length)
      this.#fields.set(field, start)
      this.#packAll(start, counts)
    }
    for (const [key, tag] of event.tags) {
      const ids = [...idsOf(tag)]
      const known = this.#tags.get(key) ?? { start: this.#take(TAG_END), ids }
      if (known.ids.join() !== ids.join()) throw new Error(`the tag ${key} has other ids on other events`)
      this.#tags.set(key, known)
      this.#packAll(known.start, tag.counts)
      if (tag.signals !== undefined) this.#packAll(known.start + TAG_WIDTH, tag.signals)
    }
    return { from, to: this.#used }
  }

  add({ from, to }: PackedEvents): void {
    const [packed, counts] = [this.#packed, this.#counts]
    this.#isEmpty = false
    for (let at = from; at < to; at++) {
      const place = packed[at] ?? 0
      if (place < MANY) counts[place] = (counts[place] ?? 0) + 1
      else {
        at++
        counts[place - MANY] = (counts[place - MANY] ?? 0) + (packed[at] ?? 0)
      }
    }
  }

  /** Adds all counts to a cell and empties the layout. Returns roughly how many numbers and texts they are. */
  moveTo(cell: Cell): number {
    if (this.#isEmpty) return 0
    const counts = this.#counts
    const has = (from: number, to: number) => {
      for (let place = from; place < to; place++) if (counts[place] !== 0) return true
      return false
    }
    const event = eventIn(cell, this.#name)
    event.counts.addFrom(counts, 0)
    if (has(EVENT_WIDTH, SIGNALS_END)) signalsIn(event).addFrom(counts, EVENT_WIDTH)
    for (const [field, start] of this.#fields) {
      if (has(start, start + FIELD_COLUMNS.length)) fieldIn(event, field).addFrom(counts, start)
    }
    for (const [key, { start, ids }] of this.#tags) {
      if (!has(start, start + TAG_WIDTH)) continue
      const tag = tagIn(event, key)
      tag.counts.addFrom(counts, start)
      for (const id of ids) addId(tag, id)
      if (has(start + TAG_WIDTH, start + TAG_END)) tagSignalsIn(event, tag).addFrom(counts, start + TAG_WIDTH)
    }
    counts.fill(0, 0, this.#width)
    this.#isEmpty = true
    return this.#width
  }

  #take(width: number): number {
    const start = this.#width
    this.#width += width
    if (this.#width > this.#counts.length) this.#counts = longer(this.#counts, new Float64Array(2 * this.#width))
    return start
  }

  #packAll(start: number, counters: Counters): void {
    if (this.#used + 2 * counters.width > this.#packed.length) {
      this.#packed = longer(this.#packed, new Int32Array(2 * this.#packed.length))
    }
    for (let index = 0; index < counters.width; index++) {
      const count = counters.at(index)
      if (count === 0) continue
      this.#packed[this.#used++] = count === 1 ? start + index : start + index + MANY
      if (count !== 1) this.#packed[this.#used++] = count
    }
  }
}

function longer<T extends Float64Array | Int32Array>(list: T, into: T): T {
  into.set(list)
  return into
}
