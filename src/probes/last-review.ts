import type { Store } from '../store/index.ts'

/** When people last acknowledged an alert of this probe or ended one by hand, epoch ms; null when they never did. */
export async function lastReview({ read }: Pick<Store, 'read'>, probeId: string): Promise<number | null> {
  const rows = await read
    .selectFrom('alerts')
    .select(['acknowledged_at', 'resolved_at', 'resolution'])
    .where('probe_id', '=', probeId)
    .where((eb) => eb.or([eb('acknowledged_at', 'is not', null), eb('resolution', '=', 'manual')]))
    .orderBy('id', 'desc')
    .limit(LOOKED_AT)
    .execute()
  const times = rows.flatMap(({ acknowledged_at, resolved_at, resolution }) => [
    acknowledged_at ?? 0,
    resolution === 'manual' ? (resolved_at ?? 0) : 0,
  ])
  return times.length === 0 ? null : Math.max(...times)
}

/** An alert that was opened later may have been acknowledged earlier, but hardly ten of them. */
const LOOKED_AT = 10
