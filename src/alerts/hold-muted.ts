import { SECOND } from '../lib/index.ts'
import { heldOpenings, postponeOpenings } from '../notifications/index.ts'
import { type AlertRow, chunksOf, type Store } from '../store/index.ts'
import { areMuted, loadMutes } from './mutes.ts'

/** So soon before it is due a message is looked at: longer than another node takes to go on with this one's rounds. */
const AHEAD_MS = 90 * SECOND
/** So much later it is due then: at most so late it comes after the end of the silence. */
const LATER_MS = 120 * SECOND

/**
 * Keeps messages that wait, of incidents that have been silenced or are under maintenance since they were written, until that is over. What
 * is still bad then is notified; what ended meanwhile is not.
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

/** By the id of an alert: those of its incident, itself among them. */
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
