import {
  addLog,
  appendPayload,
  Delta,
  eventsIn,
  Folder,
  foldOrphans,
  type Log,
  type Payload,
  RepeatedEvents,
} from '../../journal/index.ts'
import { floorTo, HOUR, MINUTE, newId } from '../../lib/index.ts'
import { type Context, lastEventTimes } from '../../management/index.ts'
import { writeReferenceCounts } from '../../reconciliation/index.ts'
import { GRAIN, minuteRowsFrom, type Retention, rollUp, type TimeRange } from '../../rollups/index.ts'
import { type Store, totalOf } from '../../store/index.ts'
import type { Update } from '../progress.ts'
import { type Occurrence, occurrencesOf } from './events.ts'
import type { Incident } from './incidents.ts'
import { PayloadReader, payloadsOf, sentAt } from './payloads.ts'
import type { DemoSite } from './sites.ts'
import { FURNITURE } from './world.ts'

/** Time folded at once: what of the history is in memory, about 12,000 events. */
const STEP_MS = 3 * HOUR
/**
 * Older than minute rows are kept, only hour rows remain, which end at full, half or quarter hours: there it is enough to
 * book on quarters. The result is the same; measured, it takes half the time.
 */
const OLD_GRAIN_MS = 15 * MINUTE
/**
 * Where nothing happens, minutes are booked by fives: probes look at slots of five minutes, and charts of so long ago at longer ones. Most of the time of
 * a start went into minutes that no one looks at.
 */
const QUIET_GRAIN_MS = 5 * MINUTE
/** The last day is looked at by the minute, and … */
const LAST_DAY_MS = 26 * HOUR
/** … what is around an incident. */
const AROUND_MS = 3 * HOUR

/** A site and since when nothing is known of it, epoch ms. */
export interface SiteGap extends DemoSite {
  from: number
}

export interface HistoryOptions {
  folder: Folder
  gaps: readonly SiteGap[]
  incidents: readonly Incident[]
  seed: string
  retention: Retention
  /** Where the history ends, epoch ms. */
  to: number
}

/** What folds counts of any site in the store. Make it when all sites are there. */
export async function folderFor(store: Store): Promise<Folder> {
  const sites = await store.read.selectFrom('sites').select(['site_no', 'client_id']).execute()
  const clients = new Map(sites.map((site) => [site.site_no, site.client_id]))
  return new Folder(store, (siteNo) => clients.get(siteNo), {
    heavySite: Number.POSITIVE_INFINITY,
    rowsPerChunk: Number.POSITIVE_INFINITY,
  })
}

/** Where each site's history has to go on: after its last event, or at `earliest`. */
export async function gapsOf(store: Store, sites: readonly DemoSite[], earliest: number): Promise<SiteGap[]> {
  // What a demo that was killed left in the journal is newer than the last event in the rollups.
  await foldOrphans(store, [])
  const lastEvents = await lastEventTimes(store.read)
  return sites.map((site) => {
    const lastEvent = lastEvents.get(site.row.site_no)
    return { ...site, from: lastEvent === undefined ? earliest : Math.max(earliest, lastEvent + 1) }
  })
}

/**
 * Fills the gaps as if the sites' tags had been sending. From the counting on, the payloads go the way of accepted ones
 * (not over HTTP and the journal: their time is past), so that rollups, names and usage are what ingest would have
 * written. Cut off, it continues there the next time.
 *
 * @param update takes the time up to which all is filled, epoch ms
 * @returns the events written
 */
export async function writeHistory(options: HistoryOptions, update: Update): Promise<number> {
  const { folder, gaps, to } = options
  const nodeId = newId()
  const senders = gaps.map((gap) => senderOf(gap, options))
  const first = Math.min(...gaps.map(({ from }) => from))
  let events = 0
  for (let step = floorTo(first, STEP_MS); step < to; step += STEP_MS) {
    const end = Math.min(step + STEP_MS, to)
    const delta = new Delta()
    for (const sender of senders) events += sender.addUntil(end, delta)
    update(Math.max(first, step))
    await folder.fold({ nodeId, firstSeq: 1, lastSeq: 0, journalRows: 0, writtenAt: 0, delta, siteCursor: null })
  }
  update(to)
  return events
}

/** What a site sends. */
interface Sender {
  /** Counts in `delta` what is sent before `end`, epoch ms, and was not counted yet. Returns the events. */
  addUntil: (end: number, delta: Delta) => number
}

function senderOf({ profile, row, from }: SiteGap, options: HistoryOptions): Sender {
  const { incidents, seed, to } = options
  const traffic = { site: profile, incidents, seed }
  const grainAt = grainsOf(profile, options)
  return profile.batchSize === null
    ? eventSender(row.site_no, occurrencesOf(traffic, from, to), grainAt)
    : batchSender(row.site_no, new PayloadReader(payloadsOf(traffic, from, to)), grainAt)
}

type GrainAt = (time: number) => number

/** Its events say the same again and again. */
function eventSender(siteNo: number, occurrences: Iterator<Occurrence>, grainAt: GrainAt): Sender {
  const counting = new RepeatedEvents(siteNo)
  let next = occurrences.next()
  return {
    addUntil(end, delta) {
      let events = 0
      for (; next.done !== true && next.value.time < end; next = occurrences.next()) {
        const { time, id, repertoire } = next.value
        counting.add(delta, id, () => repertoire.said(id), floorTo(time, grainAt(time)), time)
        events++
      }
      counting.finish(delta)
      return events
    },
  }
}

function batchSender(siteNo: number, reader: PayloadReader, grainAt: GrainAt): Sender {
  return {
    addUntil(end, delta) {
      let events = 0
      for (const payload of reader.takeUntil(end)) {
        const at = sentAt(payload)
        const log: Log = []
        appendPayload(log, siteNo, bookedOn(payload, grainAt(at)), at)
        addLog(delta, log)
        events += eventsIn(payload)
      }
      return events
    },
  }
}

/** How exactly what a site sent at a time is booked, ms. */
function grainsOf(
  profile: DemoSite['profile'],
  { incidents, retention, to }: Pick<HistoryOptions, 'incidents' | 'retention' | 'to'>,
): GrainAt {
  const minutesFrom = minuteRowsFrom(to, retention)
  const looked = incidents
    .filter(({ site }) => site === profile)
    .map((incident) => ({ from: incident.from - AROUND_MS, to: incident.to + AROUND_MS }))
  return (time) => {
    if (time < minutesFrom) return OLD_GRAIN_MS
    const isLookedAt = time >= to - LAST_DAY_MS || looked.some((stretch) => stretch.from <= time && time < stretch.to)
    return isLookedAt ? MINUTE : QUIET_GRAIN_MS
  }
}

/** Only as to its time. What is booked by the minute stays as it is. */
function bookedOn(payload: Payload, grain: number): Payload {
  if (grain === MINUTE) return payload
  return payload.batch === true
    ? { ...payload, window_end_ms: floorTo(payload.window_end_ms, grain) }
    : { ...payload, timestamp_ms: floorTo(payload.timestamp_ms, grain) }
}

/**
 * Rolls up as the service's loops would have done by now. What is too old they delete, and add up by fives, once the service runs: probes of the past look
 * at minutes of their time.
 *
 * @param update takes the buckets rolled up so far
 */
export async function settle(store: Store, now: number, update: Update): Promise<void> {
  let done = 0
  for (let buckets = await rollUp(store, now); buckets > 0; buckets = await rollUp(store, now)) {
    done += buckets
    update(done)
  }
}

const SOURCE = 'shop'
const EVENT = 'purchase'
/** Of the shop's orders so many arrive: blockers take the rest. */
const CAPTURED = 0.94

/** What the furniture shop itself counted of the history, hour by hour: more than its tag server saw. */
export async function writeDemoReferences(
  ctx: Context,
  sites: readonly DemoSite[],
  { from, to }: TimeRange,
): Promise<void> {
  const site = sites.find(({ profile }) => profile === FURNITURE)
  if (site === undefined) return
  const rows = await ctx.store.read
    .selectFrom('event_rollups')
    .select(['bucket', totalOf('events').as('events')])
    .where('site_no', '=', site.row.site_no)
    .where('grain', '=', GRAIN.hour)
    .where('bucket', '>=', from)
    .where('bucket', '<', floorTo(to, HOUR))
    .where('event_name', '=', EVENT)
    .groupBy('bucket')
    .orderBy('bucket')
    .execute()
  // Orders are whole: what rounding takes from one hour the next ones get, so that the sums keep the share.
  let ordered = 0
  let counted = 0
  const counts = rows.map(({ bucket, events }) => {
    counted += events
    const count = Math.max(events, Math.round(counted / CAPTURED) - ordered)
    ordered += count
    return { source: SOURCE, event: EVENT, hour: bucket, count }
  })
  if (counts.length > 0) await writeReferenceCounts(ctx, site.row.id, counts)
}
