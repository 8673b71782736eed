import { appendPayload } from '../src/journal/append-payload.ts'
import type { Counters } from '../src/journal/counters.ts'
import { type Cell, idsOf } from '../src/journal/delta.ts'
import { addLog, appendDelta, Delta, type Log } from '../src/journal/index.ts'
import { type LaneRow, MIXED_LANE } from '../src/journal/lanes.ts'
import type { EventPayload } from '../src/journal/payload.ts'
import type { Store } from '../src/store/index.ts'
import { countsIn } from './counts.ts'

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

/** The delta of the payloads for one site, all accepted at `now`. */
export function deltaOf(siteNo: number, payloads: readonly EventPayload[], now: number): Delta {
  const log: Log = []
  for (const payload of payloads) appendPayload(log, siteNo, payload, now)
  const delta = new Delta()
  addLog(delta, log)
  return delta
}

/** Counters as a list, because `assert.deepEqual` does not see private fields. */
export function numbersOf(counters: Counters | undefined): number[] | undefined {
  if (counters === undefined) return undefined
  const numbers: number[] = []
  counters.appendTo(numbers)
  return numbers
}

/** The contents of cells as data to compare, independent of order. */
export function contentsOf(cells: readonly Cell[] = []): unknown[] {
  const sorted = <T>(map: ReadonlyMap<string, T> = new Map()) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))
  return cells
    .map(({ minute, containerId, lastSeenAt, events, versions, clients }) => ({
      minute,
      containerId,
      lastSeenAt,
      versions: sorted(versions),
      clients: sorted(clients),
      events: sorted(events).map(([name, event]) => ({
        name,
        counts: numbersOf(event.counts),
        signals: numbersOf(event.signals),
        fields: sorted(event.fields).map(([field, counts]) => [field, numbersOf(counts)]),
        tags: sorted(event.tags).map(([key, tag]) => ({
          key,
          counts: numbersOf(tag.counts),
          signals: numbersOf(tag.signals),
          ids: [...idsOf(tag)].sort(),
        })),
      })),
    }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** The journal's text of a delta. */
export function encode(delta: Delta): string {
  const log: Log = []
  appendDelta(log, delta)
  return JSON.stringify(log)
}

/** Adds one delta to another, through the journal's text. */
export function addTo(delta: Delta, other: Delta): void {
  addLog(delta, JSON.parse(encode(other)) as Log)
}

/** Far ahead of any database's clock, so that these rows never count as having waited too long and are not folded. */
const NEVER_STALE = Date.parse('9999-01-01T00:00:00.000Z')

/** Writes a delta into the journal as the node `nodeId`. */
export async function writeJournal(store: Store, nodeId: string, seq: number, delta: Delta): Promise<void> {
  await store.write
    .insertInto('journal')
    .values({ node_id: nodeId, seq, written_at: NEVER_STALE, payload: encode(delta) })
    .execute()
}

export async function totalEvents(store: Store, siteNo: number, grain = 60): Promise<number> {
  const row = await store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select((eb) => eb.fn.sum<number>('total').as('total'))
    .where('site_no', '=', siteNo)
    .where('grain', '=', grain)
    .executeTakeFirstOrThrow()
  return row.total ?? 0
}

/** The row of `writeJournal` as a commit describes it; its numbers belong to no lane. */
export const mixedRow = (seq: number, siteNo = 7): LaneRow => ({
  lane: MIXED_LANE,
  seq,
  siteNos: [siteNo],
  characters: 0,
})
