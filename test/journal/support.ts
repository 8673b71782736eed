import {
  addLog,
  appendPayload,
  Delta,
  type Folder,
  foldJournal,
  foldOrphans,
  type Log,
} from '../../src/journal/index.ts'
import type { EventPayload, Payload } from '../../src/journal/payload.ts'
import type { Store } from '../../src/store/index.ts'
import { deltaOf, writeJournal } from '../../testkit/deltas.ts'

let seq = 0

/** Folds payloads, all accepted at `now`, as one journal row. */
export async function fold(
  store: Store,
  folder: Folder,
  payloads: readonly EventPayload[],
  siteNo: number,
  now: number,
): Promise<void> {
  await writeJournal(store, 'node', ++seq, deltaOf(siteNo, payloads, now))
  await foldJournal(store, folder, { nodeId: 'node' })
  // What was too much for one fold is spilled, and the next process folds it.
  await foldOrphans(store, ['node'])
}

export function logOf(payload: Payload, now: number): Log {
  const log: Log = []
  appendPayload(log, 1, payload, now)
  return log
}

export function deltaOfLog(log: Log): Delta {
  const delta = new Delta()
  addLog(delta, log)
  return delta
}
