import { Delta, type EventPayload, Folder, foldJournal } from '../../src/journal/index.ts'
import type { Store } from '../../src/store/index.ts'
import { addTo, deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'

let seq = 0

/** Counts events at these times, one each of two containers and two names, all with the same contents. */
export async function countEvents(
  store: Store,
  siteNo: number,
  times: readonly number[],
  contents: Partial<EventPayload>,
): Promise<void> {
  const delta = new Delta()
  for (const timestamp_ms of times) {
    for (const container_id of ['GTM-A', 'GTM-B']) {
      for (const event_name of ['purchase', 'page_view']) {
        addTo(
          delta,
          deltaOf(siteNo, [eventPayload({ ...contents, timestamp_ms, container_id, event_name })], timestamp_ms),
        )
      }
    }
  }
  await writeJournal(store, 'node', ++seq, delta)
  await foldJournal(store, new Folder(store, () => 'client'), { nodeId: 'node' })
}
