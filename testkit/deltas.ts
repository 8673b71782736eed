import { addLog, appendDelta, Delta, type Log } from '../src/journal/index.ts'
import { appendPayload, type EventPayload } from '../src/journal/payload.ts'
import type { Store } from '../src/store/index.ts'

/** A per-event payload with two tags; `over` replaces fields. */
export function eventPayload(over: Partial<EventPayload> & { timestamp_ms: number }): EventPayload {
  return {
    container_id: 'GTM-ABC1234',
    event_name: 'purchase',
    tags: [
      { id: '12', name: 'GA4', status: 'success', execution_time: 84 },
      { id: '31', status: 'timeout', execution_time: 5_000 },
    ],
    ...over,
  }
}

/** What the payloads add up to for one site, all accepted at `now`. */
export function deltaOf(siteNo: number, payloads: readonly EventPayload[], now: number): Delta {
  const log: Log = []
  for (const payload of payloads) appendPayload(log, siteNo, payload, now)
  const delta = new Delta()
  addLog(delta, log)
  return delta
}

/** The journal's text of a delta. */
export function encode(delta: Delta): string {
  const log: Log = []
  appendDelta(log, delta)
  return JSON.stringify(log)
}

/** Adds one delta to another, the way it goes through the journal. */
export function addTo(delta: Delta, other: Delta): void {
  addLog(delta, JSON.parse(encode(other)) as Log)
}

/** Far ahead of any database's clock: who folds rows of live nodes that have waited too long is to leave these alone. */
const NEVER_STALE = Date.parse('9999-01-01T00:00:00.000Z')

/** Puts a delta into the journal as a process called `nodeId` would. */
export async function writeJournal(store: Store, nodeId: string, seq: number, delta: Delta): Promise<void> {
  await store.write
    .insertInto('journal')
    .values({ node_id: nodeId, seq, written_at: NEVER_STALE, payload: encode(delta) })
    .execute()
}

export async function totalEvents(store: Store, siteNo: number, grain = 60): Promise<number> {
  const row = await store.read
    .selectFrom('event_rollups')
    .select((eb) => eb.fn.sum<number>('total').as('total'))
    .where('site_no', '=', siteNo)
    .where('grain', '=', grain)
    .executeTakeFirstOrThrow()
  return row.total ?? 0
}
