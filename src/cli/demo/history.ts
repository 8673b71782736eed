import { addLog, appendPayload, Delta, Folder, foldOrphans, type Log, type Payload } from '../../journal/index.ts'
import { floorTo, HOUR, MINUTE, newId } from '../../lib/index.ts'
import { lastEventTimes } from '../../management/index.ts'
import { applyRetention, minuteRowsFrom, type Retention, rollUp } from '../../rollups/index.ts'
import type { Store } from '../../store/index.ts'
import type { Update } from '../progress.ts'
import type { Incident } from './incidents.ts'
import { PayloadReader, payloadsOf, sentAt } from './payloads.ts'
import type { DemoSite } from './sites.ts'

/** Time folded at once: what of the history is in memory, about 12,000 events. */
const STEP_MS = 3 * HOUR
/** Numbers and texts of payloads that are added up at once: those of a whole step would have to be moved again and again as they grow. */
const LOG_ITEMS = 4_000
/**
 * Older than minute rows are kept, only hour rows remain, which end at full, half or quarter hours: there it is enough to
 * book on quarters. The result is the same; measured, it takes half the time.
 */
const OLD_GRAIN_MS = 15 * MINUTE

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
  const { folder, gaps, incidents, seed, retention, to } = options
  const nodeId = newId()
  const readers = gaps.map(({ profile, row, from }) => ({
    siteNo: row.site_no,
    reader: new PayloadReader(payloadsOf({ site: profile, incidents, seed }, from, to)),
  }))
  const minutesFrom = minuteRowsFrom(to, retention)
  const first = Math.min(...gaps.map(({ from }) => from))
  let events = 0
  for (let step = floorTo(first, STEP_MS); step < to; step += STEP_MS) {
    const end = Math.min(step + STEP_MS, to)
    const delta = new Delta()
    for (const { siteNo, reader } of readers) {
      let log: Log = []
      for (const payload of reader.takeUntil(end)) {
        const at = sentAt(payload)
        appendPayload(log, siteNo, at < minutesFrom ? onQuarterHour(payload) : payload, at)
        events += payload.batch === true ? payload.total_events : 1
        if (log.length < LOG_ITEMS) continue
        addLog(delta, log)
        log = []
      }
      addLog(delta, log)
    }
    update(Math.max(first, step))
    await folder.fold({ nodeId, firstSeq: 1, lastSeq: 0, journalRows: 0, writtenAt: 0, delta, siteCursor: null })
  }
  update(to)
  return events
}

const onQuarterHour = (payload: Payload): Payload =>
  payload.batch === true
    ? { ...payload, window_end_ms: floorTo(payload.window_end_ms, OLD_GRAIN_MS) }
    : { ...payload, timestamp_ms: floorTo(payload.timestamp_ms, OLD_GRAIN_MS) }

/** Compacts as the service's loops would have done by now. @param update takes the buckets rolled up so far */
export async function settle(store: Store, retention: Retention, now: number, update: Update): Promise<void> {
  let done = 0
  for (let buckets = await rollUp(store, now); buckets > 0; buckets = await rollUp(store, now)) {
    done += buckets
    update(done)
  }
  await applyRetention(store, retention, now, () => true)
}
