import type { Store } from '../store/index.ts'

/** Containers of a site in the metrics: those that sent something last. A sender can name others every day. */
const CONTAINERS_PER_SITE = 20

export interface ContainerSeen {
  site_no: number
  container_id: string
  last_seen_at: number
}

/** When the containers of each site last sent something. */
export async function containersBySite({ read }: Pick<Store, 'read'>): Promise<Map<number, ContainerSeen[]>> {
  const rows = await read
    .selectFrom((eb) =>
      eb
        .selectFrom('site_containers')
        .select((row) => [
          'site_no',
          'container_id',
          'last_seen_at',
          row.fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('site_no').orderBy('last_seen_at', 'desc').orderBy('container_id'))
            .as('place'),
        ])
        .as('site_containers'),
    )
    .select(['site_no', 'container_id', 'last_seen_at'])
    .where('place', '<=', CONTAINERS_PER_SITE)
    .orderBy('site_no')
    .orderBy('container_id')
    .execute()
  return Map.groupBy(rows, ({ site_no }) => site_no)
}
