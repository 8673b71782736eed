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

/** Time folded at once, about 12,000 events, which is what the history takes in memory. */
const STEP_MS = 3 * HOUR
/**
 * Beyond the retention of minute rows only hour rows remain. They end at full, half or quarter hours, so counting by quarters gives
 * the same result; measured, it takes half the time.
 */
const OLD_GRAIN_MS = 15 * MINUTE
/**
 * Where nothing happens, events are counted at every fifth minute: probes look at slots of five minutes, and charts of that time at
 * longer ones. Single minutes took most of a start's time.
 */
const QUIET_GRAIN_MS = 5 * MINUTE
/** Single minutes are counted in the last day … */
const LAST_DAY_MS = 26 * HOUR
/** … and this long before and after an incident. */
const AROUND_MS = 3 * HOUR

/** A site and the time from which its events are missing, epoch ms. */
export interface SiteGap extends DemoSite {
  from: number
}

export interface HistoryOptions {
  folder: Folder
  gaps: readonly SiteGap[]
  incidents: readonly Incident[]
  seed: string
  retention: Retention
  /** End of the history, epoch ms. */
  to: number
}

/** Returns a folder for the counts of any site in the store. Call it when all sites exist. */
export async function folderFor(store: Store): Promise<Folder> {
  const sites = await store.read.selectFrom('sites').select(['site_no', 'client_id']).execute()
  const clients = new Map(sites.map((site) => [site.site_no, site.client_id]))
  return new Folder(store, (siteNo) => clients.get(siteNo), {
    heavySite: Number.POSITIVE_INFINITY,
    rowsPerChunk: Number.POSITIVE_INFINITY,
  })
}

/** Finds where each site's history continues: after its last event, or at `earliest`. */
export async function gapsOf(store: Store, sites: readonly DemoSite[], earliest: number): Promise<SiteGap[]> {
  // A demo that was killed may have left events in the journal that are newer than the last one in the rollups.
  await foldOrphans(store, [])
  const lastEvents = await lastEventTimes(store.read)
  return sites.map((site) => {
    const lastEvent = lastEvents.get(site.row.site_no)
    return { ...site, from: lastEvent === undefined ? earliest : Math.max(earliest, lastEvent + 1) }
  })
}

/**
 * Fills the gaps as if the sites' tags had been sending. Payloads skip HTTP and the journal, because their time is past, but are
 * counted as accepted ones, so that rollups, names and usage are what ingest would have written. If interrupted, it continues
 * there the next time.
 *
 * @param update receives the time up to which everything is filled, epoch ms
 * @returns the number of events written
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

/** The traffic of one site. */
interface Sender {
  /** Counts in `delta` what is sent before `end` (epoch ms) and was not counted yet. Returns the number of events. */
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

/** Counts events by their id, because the same payloads repeat. */
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

/** The grain at which a site's events of a time are counted, ms. */
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

/** The payload with its time rounded down to the grain; unchanged for minutes. */
function bookedOn(payload: Payload, grain: number): Payload {
  if (grain === MINUTE) return payload
  return payload.batch === true
    ? { ...payload, window_end_ms: floorTo(payload.window_end_ms, grain) }
    : { ...payload, timestamp_ms: floorTo(payload.timestamp_ms, grain) }
}

/**
 * Rolls up what the service's loops would have rolled up by now. Deleting old rows and merging minutes by fives is left to the service:
 * probes that run in the past still need the minutes of their time.
 *
 * @param update receives the number of buckets rolled up so far
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
/** Share of the shop's orders that arrive; ad blockers take the rest. */
const CAPTURED = 0.94

/** Writes the orders that the furniture shop itself counted, hour by hour: more than its tag server received. */
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
  // Orders are whole numbers: carry the rounding over to later hours, so that the sums keep the share.
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
