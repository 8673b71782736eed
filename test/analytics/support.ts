import { appendPayload } from '../../src/journal/append-payload.ts'
import { addLog, Delta, foldOrphans, type Log } from '../../src/journal/index.ts'
import type { Payload } from '../../src/journal/payload.ts'
import { DAY, floorTo } from '../../src/lib/index.ts'
import type { Retention } from '../../src/rollups/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { writeJournal } from '../../testkit/deltas.ts'

export const RETENTION: Retention = { minuteDays: 2, hourDays: 30 }

export const reportContext = (store: Store, now: number | string) => ({
  store,
  clock: new TestClock(now),
  retention: RETENTION,
})

export const timeOf = (payload: Payload): number =>
  'window_end_ms' in payload ? payload.window_end_ms : payload.timestamp_ms

let journalSeq = 0

/** Counts payloads as ingest does, each accepted at `acceptedAt` or else at its own time; one fold a day. */
export async function count(
  store: Store,
  site: SiteRow,
  payloads: readonly Payload[],
  acceptedAt?: number | string,
): Promise<void> {
  const acceptance = (payload: Payload) => (acceptedAt === undefined ? timeOf(payload) : new Date(acceptedAt).getTime())
  for (const ofDay of Map.groupBy(payloads, (payload) => floorTo(timeOf(payload), DAY)).values()) {
    const log: Log = []
    for (const payload of ofDay) appendPayload(log, site.site_no, payload, acceptance(payload))
    const delta = new Delta()
    addLog(delta, log)
    await writeJournal(store, 'gone', ++journalSeq, delta)
    await foldOrphans(store, [])
  }
}
