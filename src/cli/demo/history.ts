import { addPayload, type Payload } from '../../ingest/index.ts'
import { ceilTo, floorTo, HOUR, MINUTE, monthOf, newId } from '../../lib/index.ts'
import { lastEventTimes } from '../../management/index.ts'
import { applyRetention, Delta, Folder, minuteRowsFrom, type Retention, rollUp } from '../../rollups/index.ts'
import type { Store } from '../../store/index.ts'
import type { Update } from '../progress.ts'
import type { Incident } from './incidents.ts'
import { PayloadReader, payloadsOf, sentAt } from './payloads.ts'
import type { DemoSite } from './sites.ts'

/** Time folded at once: what of the history is in memory, about 12,000 events. */
const STEP_MS = 3 * HOUR
/**
 * Older than minute rows are kept, only hour rows remain, which end at full, half or quarter hours: there it is enough to
 * book on quarters. The result is the same; measured, it takes half the time.
 */
const OLD_GRAIN_MS = 15 * MINUTE

export interface HistoryOptions {
  store: Store
  sites: readonly DemoSite[]
  incidents: readonly Incident[]
  seed: string
  retention: Retention
  /** The stretch to fill, whole minutes, epoch ms. */
  from: number
  to: number
}

/**
 * Fills the time until `to` for every site that has nothing there yet, as if its tag had been sending: the payloads go the
 * way of accepted ones from the counting on (not over HTTP and the journal: their time is past), so that the rollups, the
 * names and the usage are what ingest would have written. Cut off, it goes on there the next time.
 *
 * @param update takes the milliseconds filled so far, of `to - from`
 * @returns the events written
 */
export async function writeHistory(options: HistoryOptions, update: Update): Promise<number> {
  const { store, sites, incidents, seed, retention, from, to } = options
  const clientOf = new Map(sites.map(({ row }) => [row.site_no, row.client_id]))
  const folder = new Folder(store, (siteNo) => clientOf.get(siteNo))
  const nodeId = newId()
  const lastEvents = await lastEventTimes(store.read)
  const readers = sites.map(({ profile, row }) => {
    const lastEvent = lastEvents.get(row.site_no)
    const start = lastEvent === undefined ? from : Math.max(from, ceilTo(lastEvent + 1, MINUTE))
    return { siteNo: row.site_no, reader: new PayloadReader(payloadsOf({ site: profile, incidents, seed }, start, to)) }
  })
  const minutesFrom = minuteRowsFrom(to, retention)
  let events = 0
  for (let step = floorTo(from, STEP_MS); step < to; step += STEP_MS) {
    const end = Math.min(step + STEP_MS, to)
    const delta = new Delta()
    for (const { siteNo, reader } of readers) {
      for (const payload of reader.takeUntil(end)) {
        const at = sentAt(payload)
        addPayload(delta, siteNo, at < minutesFrom ? onQuarterHour(payload) : payload, at, monthOf(at))
        events += payload.batch === true ? payload.total_events : 1
      }
    }
    await folder.fold({ nodeId, lastSeq: 0, journalRows: 0, delta, siteCursor: 0 })
    update(end - from)
  }
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
