import { SECOND } from '../lib/index.ts'
import { heldOpenings, postponeOpenings } from '../notifications/index.ts'
import { type AlertRow, chunksOf, type Store } from '../store/index.ts'
import { areMuted, loadMutes } from './mutes.ts'

/** A pending message is checked this long before it is due: longer than it takes another node to take over this job. */
const AHEAD_MS = 90 * SECOND
/** A held message is postponed to this long from now, so it goes out at most this late after the silence ends. */
const LATER_MS = 120 * SECOND

/**
 * Postpones pending messages of incidents that were silenced, or came under maintenance, after the messages were written. Once that
 * ends, what is still bad is notified; what was resolved meanwhile is not.
 */
export async function holdMuted(store: Store, now: number): Promise<void> {
  const held = await heldOpenings(store, now, now + AHEAD_MS)
  if (held.length === 0) return
  const mutes = await loadMutes(store.read, now)
  if (mutes.silences.length === 0 && mutes.maintenances.length === 0) return
  const muted: string[] = []
  for (const [voice, alerts] of await alertsBeside(store, held)) if (areMuted(alerts, mutes, now)) muted.push(voice)
  if (muted.length === 0) return
  await store.write.transaction().execute((trx) => postponeOpenings(trx, muted, now, now + LATER_MS))
}

/** Returns, for each alert id, all alerts of its incident, including itself. */
async function alertsBeside({ read }: Pick<Store, 'read'>, ids: readonly string[]): Promise<Map<string, AlertRow[]>> {
  const beside = new Map<string, AlertRow[]>()
  for (const chunk of chunksOf(ids)) {
    const voices = await read.selectFrom('alerts').select(['id', 'incident_id']).where('id', 'in', chunk).execute()
    const incidentIds = voices.flatMap(({ incident_id }) => incident_id ?? [])
    if (incidentIds.length === 0) continue
    const alerts = await read.selectFrom('alerts').selectAll().where('incident_id', 'in', incidentIds).execute()
    for (const { id, incident_id } of voices) {
      beside.set(
        id,
        alerts.filter((alert) => alert.incident_id === incident_id),
      )
    }
  }
  return beside
}
