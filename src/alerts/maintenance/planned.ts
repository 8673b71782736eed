import { chunksOf, type Kysely, type MaintenanceRow, type Tables } from '../../store/index.ts'
import { nearestWindow, nextWindow, scheduleOf, type Window } from './window.ts'

/** A maintenance window of a client or of one of its sites. */
export interface Planned extends Window {
  /** Null for all sites of the client. */
  siteId: string | null
}

/** The most windows returned, as weekly maintenance never ends. */
const MOST = 50

/**
 * Returns the windows that are under way at `from` or begin before `to` (epoch ms), the nearest first. Maintenance of single probes
 * is left out.
 */
export async function plannedMaintenance(
  db: Kysely<Tables>,
  { clientId, siteIds }: { clientId: string; siteIds: readonly string[] },
  from: number,
  to: number,
): Promise<Planned[]> {
  const active = db.selectFrom('maintenance').selectAll().where('is_active', '=', 1)
  const rows = await active.where('client_id', '=', clientId).execute()
  for (const chunk of chunksOf(siteIds)) rows.push(...(await active.where('site_id', 'in', chunk).execute()))
  return rows
    .flatMap((row) => windowsOf(row, from, to).map((window) => ({ ...window, siteId: row.site_id })))
    .toSorted((a, b) => a.startsAt - b.startsAt)
    .slice(0, MOST)
}

function windowsOf(row: MaintenanceRow, from: number, to: number): Window[] {
  const schedule = scheduleOf(row)
  const windows: Window[] = []
  for (
    let window = nearestWindow(schedule, from);
    window !== null && window.startsAt < to && windows.length < MOST;
    window = nextWindow(schedule, window.startsAt)
  ) {
    windows.push(window)
  }
  return windows
}
