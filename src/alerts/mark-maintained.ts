import type { Finished } from '../probes/index.ts'
import { chunksOf, type Tables, type Transaction } from '../store/index.ts'
import { type Quiet, quietFor } from './quiet.ts'

/** Results found during maintenance say so, for anyone who judges a site's past by them. */
export async function markMaintained(
  trx: Transaction<Tables>,
  written: readonly Finished[],
  { maintenances }: Quiet,
  now: number,
): Promise<void> {
  if (maintenances.length === 0) return
  const byMaintenance = new Map<string, Finished[]>()
  for (const finished of written) {
    const { site, probe } = finished
    const target = { clientId: site.client_id, siteId: site.id, probeId: probe.id, subject: '' }
    const id = quietFor(target, [], maintenances, now)?.maintenanceId
    if (typeof id === 'string') byMaintenance.set(id, [...(byMaintenance.get(id) ?? []), finished])
  }
  for (const [id, marked] of byMaintenance) {
    // The caller who asked for the run gets the result as it is stored.
    for (const { result } of marked) result.maintenance_id = id
    for (const chunk of chunksOf(marked)) {
      await trx
        .updateTable('probe_results')
        .set({ maintenance_id: id })
        .where(
          'probe_id',
          'in',
          chunk.map(({ probe }) => probe.id),
        )
        .where(
          'id',
          'in',
          chunk.map(({ result }) => result.id),
        )
        .execute()
    }
  }
}
