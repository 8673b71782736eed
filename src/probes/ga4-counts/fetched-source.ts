import { fieldsOf, HOUR } from '../../lib/index.ts'
import type { SiteRow, Store } from '../../store/index.ts'
import { DEFAULT_SETTLED_HOURS, DEFAULT_SOURCE, TYPE_NAME } from './settings.ts'

/** A source of reference counts that an active probe fetches. */
export interface FetchedSource {
  /** As the probe is called. */
  probe: string
  /** So old its newest count is at least. */
  settledAfterMs: number
}

/** Null where no active probe of the site fetches the source; of several the slowest. */
export async function fetchedSource(
  { read }: Pick<Store, 'read'>,
  { id }: Pick<SiteRow, 'id'>,
  source: string,
): Promise<FetchedSource | null> {
  const probes = await read
    .selectFrom('probes')
    .select(['name', 'config'])
    .where('site_id', '=', id)
    .where('probe_type', '=', TYPE_NAME)
    .where('is_active', '=', 1)
    .orderBy('id')
    .execute()
  const fetched = probes.flatMap(({ name, config }) => {
    const { source: of = DEFAULT_SOURCE, settled_after_hours: hours = DEFAULT_SETTLED_HOURS } = fieldsOf(
      JSON.parse(config),
    )
    return of === source && typeof hours === 'number' ? [{ probe: name, settledAfterMs: hours * HOUR }] : []
  })
  return fetched.toSorted((a, b) => b.settledAfterMs - a.settledAfterMs)[0] ?? null
}
