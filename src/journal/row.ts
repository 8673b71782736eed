import { LATENCY_BOUNDS_MS, OUTCOMES, type Outcome } from '../rollups/index.ts'
import type { Counters } from './counters.ts'
import {
  addId,
  addUsage,
  type Cell,
  type Counts,
  cellAt,
  type Delta,
  EVENT,
  type EventDelta,
  eventIn,
  FIELD,
  fieldIn,
  fieldsOf,
  idCountOf,
  idsOf,
  signalsIn,
  TAG,
  type TagDelta,
  tagIn,
  tagSignalsIn,
} from './delta.ts'
import { type Log, LogReader } from './log-reader.ts'
import { type ClientSeen, seeClient, seeVersion, type VersionSeen } from './seen.ts'

/**
 * The format of a journal row: entries one after the other in one flat list. JSON writes and reads that several times faster than
 * nested objects, and the garbage collector has nothing to follow.
 *
 * entry  siteNo, month, events, requests, acceptedAt, minute, containerId, number of events, event… optionally before the number
 * of events: SIGNALS, number of versions, (version, environment, first and last seen)… and then FIELDS, number of clients, (name,
 * first and last seen)… event  name, mask, number of tags, tag…           mask: bit i set counts 1 in EVENT_COLUMNS[i] name, SUM,
 * counts…, number of tags, tag… name, PART, n, number of tags, tag…         n events of this name, counted in the total elsewhere
 * tag    key, outcome, ms, id                        one execution; ms -1: unknown; id '': no link key, SUM, number of ids, id…,
 * counts… key, PART, counts up to `timed`             what a batch knows: no histogram, no ids
 *
 * An outcome may carry signals in the bits above its first two: bit 2 + i set counts 1 in TAG_SIGNAL_COLUMNS[i]. The mask, SUM or
 * PART of an event or tag may be preceded by its signals:
 *
 * SIGNALS, number of pairs, (place in SIGNAL_COLUMNS or TAG_SIGNAL_COLUMNS, count)…
 *
 * and, for events, then by the counts of the site's own parameters:
 *
 * FIELDS, number of names, (name, present, total)…
 */
export type { Log } from './log-reader.ts'

/** In place of a mask or an outcome: all counts follow. */
export const SUM = -1
/** In place of a mask or an outcome: only the counts that a batch can have follow. */
export const PART = -2
/**
 * A text where a number is expected. A program of the previous version, which may fold a dead node's rows during an upgrade,
 * fails on it and leaves the row to newer nodes instead of counting wrongly.
 */
export const SIGNALS = '+'
/** Another text, for the same reason. */
export const FIELDS = '='
export const NO_TIME = -1
export const NO_ID = ''

/** The counters of a tag before its histogram, which comes last. */
const TAG_PART_WIDTH = TAG.le_10

/** The place of an outcome in a tag's counts and in the log. */
const outcomeIndex = (outcome: Outcome): number => OUTCOMES.indexOf(outcome)

/** Bits of an outcome; signals are above them. */
const OUTCOME_BITS = 2

/** Encodes an outcome. @param signals a mask of `TAG_SIGNAL_COLUMNS` */
export const outcomeWith = (outcome: Outcome, signals: number): number =>
  outcomeIndex(outcome) | (signals << OUTCOME_BITS)

/** Appends the signals that are not zero; nothing when `counts` is undefined. */
export function appendSignals(log: Log, counts: Counts | undefined): void {
  if (counts === undefined) return
  const lengthAt = log.push(SIGNALS, 0) - 1
  for (let place = 0; place < counts.length; place++) {
    const count = counts[place] ?? 0
    if (count !== 0) log.push(place, count)
  }
  log[lengthAt] = (log.length - lengthAt - 1) / 2
}

/** Appends what `appendSignals` appends for signals that count 1 each. */
export function appendSignalMask(log: Log, mask: number): void {
  if (mask === 0) return
  const lengthAt = log.push(SIGNALS, 0) - 1
  for (let rest = mask; rest !== 0; rest &= rest - 1) log.push(31 - Math.clz32(rest & -rest), 1)
  log[lengthAt] = (log.length - lengthAt - 1) / 2
}

function appendSummedSignals(log: Log, counters: Counters | undefined): void {
  if (counters === undefined) return
  const counts: Counts = []
  counters.appendTo(counts)
  appendSignals(log, counts)
}

/** Appends the counts of the site's own parameters; nothing when there are none. */
export function appendFields(
  log: Log,
  fields: readonly (readonly [name: string, present: number, total: number])[],
): void {
  if (fields.length === 0) return
  log.push(FIELDS, fields.length)
  for (const field of fields) log.push(...field)
}

/** Separates the stream's id from the suffix of what was spilled from it. */
const SEPARATOR = '/'

/** Whether the stream holds spilled counts: each of its rows is small enough for one transaction. */
export const isSpill = (nodeId: string): boolean => nodeId.includes(SEPARATOR)

/** The stream of the site's counts that are spilled from the node's rows up to `lastSeq`. */
export const spillStream = (nodeId: string, lastSeq: number, siteNo: number): string =>
  [nodeId, lastSeq, siteNo].join(SEPARATOR)

/** Appends everything a delta holds, as one entry per cell instead of one per request. */
export function appendDelta(log: Log, delta: Delta): void {
  for (const [siteNo, site] of delta.sites) {
    for (const [month, { events, requests }] of site.usage) log.push(siteNo, month, events, requests, 0, 0, '', 0)
    for (const cell of site.cells) {
      log.push(siteNo, 0, 0, 0, cell.lastSeenAt, cell.minute, cell.containerId)
      appendVersions(log, cell.versions)
      appendClients(log, [...(cell.clients?.values() ?? [])])
      log.push(cell.events.size)
      for (const [name, event] of cell.events) appendSummedEvent(log, name, event)
    }
  }
}

function appendVersions(log: Log, versions: Cell['versions']): void {
  if (versions === undefined) return
  log.push(SIGNALS, versions.size)
  for (const seen of versions.values()) appendVersion(log, seen)
}

function appendVersion(log: Log, { version, environment, firstSeenAt, lastSeenAt }: VersionSeen): void {
  log.push(version, environment, firstSeenAt, lastSeenAt)
}

/** Appends the version that sent a payload. */
export function appendOwnVersion(log: Log, seen: VersionSeen | undefined): void {
  if (seen === undefined) return
  log.push(SIGNALS, 1)
  appendVersion(log, seen)
}

/** Appends the clients that claimed events; nothing when there are none. */
export function appendClients(log: Log, clients: readonly ClientSeen[]): void {
  if (clients.length === 0) return
  log.push(FIELDS, clients.length)
  for (const { name, firstSeenAt, lastSeenAt } of clients) log.push(name, firstSeenAt, lastSeenAt)
}

/** Appends all counts of one event name. */
export function appendSummedEvent(log: Log, name: string, event: EventDelta): void {
  log.push(name)
  appendSummedSignals(log, event.signals)
  appendFields(
    log,
    Array.from(fieldsOf(event), ([field, counts]) => [field, counts.at(FIELD.present), counts.at(FIELD.total)]),
  )
  log.push(SUM)
  event.counts.appendTo(log)
  log.push(event.tags.size)
  for (const [key, tag] of event.tags) {
    log.push(key)
    appendSummedSignals(log, tag.signals)
    log.push(SUM, idCountOf(tag))
    // One by one: a sender may give more ids than a call can take arguments.
    for (const id of idsOf(tag)) log.push(id)
    tag.counts.appendTo(log)
  }
}

/** Adds every entry of the log to the delta. */
export function addLog(delta: Delta, log: Log): void {
  const reader = new LogReader(log)
  while (!reader.isAtEnd) addEntry(delta, reader)
}

function addEntry(delta: Delta, reader: LogReader): void {
  const start = reader.at
  const site = delta.site(reader.number())
  const month = reader.number()
  const events = reader.number()
  const requests = reader.number()
  if (requests > 0) addUsage(site, month, events, requests)
  const acceptedAt = reader.number()
  const minute = reader.number()
  const containerId = reader.text()
  const versions = reader.skips(SIGNALS) ? readVersions(reader) : NO_VERSIONS
  const clients = reader.skips(FIELDS) ? readClients(reader) : NO_CLIENTS
  const count = reader.number()
  if (count > 0) {
    const cell = cellAt(site, minute, containerId)
    for (const seen of versions) seeVersion(cell, seen)
    for (const seen of clients) seeClient(cell, seen)
    addCell(cell, acceptedAt, count, reader)
  }
  site.items += reader.at - start
  if (delta.largest === undefined || site.items > delta.largest.items) delta.largest = site
}

const NO_VERSIONS: readonly VersionSeen[] = []
const NO_CLIENTS: readonly ClientSeen[] = []

function readVersions(reader: LogReader): VersionSeen[] {
  const versions: VersionSeen[] = []
  for (let left = reader.number(); left > 0; left--) {
    const [version, environment] = [reader.text(), reader.text()]
    const [firstSeenAt, lastSeenAt] = [reader.number(), reader.number()]
    versions.push({ version, environment, firstSeenAt, lastSeenAt })
  }
  return versions
}

function readClients(reader: LogReader): ClientSeen[] {
  const clients: ClientSeen[] = []
  for (let left = reader.number(); left > 0; left--) {
    clients.push({ name: reader.text(), firstSeenAt: reader.number(), lastSeenAt: reader.number() })
  }
  return clients
}

function addCell(cell: Cell, acceptedAt: number, count: number, reader: LogReader): void {
  cell.lastSeenAt = Math.max(cell.lastSeenAt, acceptedAt)
  for (let i = 0; i < count; i++) {
    const event = eventIn(cell, reader.text())
    if (reader.skips(SIGNALS)) readSignals(signalsIn(event), reader)
    if (reader.skips(FIELDS)) readFields(event, reader)
    const mask = reader.number()
    if (mask === SUM) reader.addTo(event.counts)
    else if (mask === PART) event.counts.add(EVENT.events, reader.number())
    else addMask(event.counts, mask)
    const tags = reader.number()
    for (let j = 0; j < tags; j++) addTag(event, reader)
  }
}

function addMask(counts: Counters, mask: number): void {
  for (let index = 0; index < counts.width; index++) if ((mask & (1 << index)) !== 0) counts.add(index, 1)
}

/** @throws Error when a signal is unknown: a later version wrote the row, and a node of that version has to fold it */
function readSignals(signals: Counters, reader: LogReader): void {
  for (let left = reader.number(); left > 0; left--) {
    const place = reader.number()
    if (place >= signals.width) throw new Error('the journal holds a signal that this version does not know')
    signals.add(place, reader.number())
  }
}

function readFields(event: EventDelta, reader: LogReader): void {
  for (let left = reader.number(); left > 0; left--) {
    const counts = fieldIn(event, reader.text())
    counts.add(FIELD.present, reader.number())
    counts.add(FIELD.total, reader.number())
  }
}

function addTag(event: EventDelta, reader: LogReader): void {
  const tag = tagIn(event, reader.text())
  const { counts } = tag
  if (reader.skips(SIGNALS)) readSignals(tagSignalsIn(event, tag), reader)
  const outcome = reader.number()
  if (outcome === SUM) {
    for (let left = reader.number(); left > 0; left--) readId(tag, reader)
    reader.addTo(counts)
    return
  }
  if (outcome === PART) {
    reader.addTo(counts, TAG_PART_WIDTH)
    return
  }
  const ms = reader.number()
  const signals = outcome >> OUTCOME_BITS
  if (signals !== 0) addMask(tagSignalsIn(event, tag), signals)
  counts.add(outcome & ((1 << OUTCOME_BITS) - 1), 1)
  counts.add(TAG.executions, 1)
  if (ms !== NO_TIME) {
    counts.add(TAG.timed, 1)
    counts.add(TAG.total_ms, ms)
    counts.add(TAG.le_10 + latencyBucket(ms), 1)
  }
  readId(tag, reader)
}

/** The index of the histogram bucket that an execution time falls in. */
export function latencyBucket(ms: number): number {
  let bucket = 0
  for (const bound of LATENCY_BOUNDS_MS) {
    if (ms <= bound) return bucket
    bucket++
  }
  return bucket
}

function readId(tag: TagDelta, reader: LogReader): void {
  const id = reader.text()
  if (id !== NO_ID) addId(tag, id)
}
