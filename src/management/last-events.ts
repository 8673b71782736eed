import type { Kysely, Tables } from '../store/index.ts'

/** When a site last sent an event (epoch ms), or null. */
export async function lastEventAt(db: Kysely<Tables>, siteNo: number): Promise<number | null> {
  const row = await db
    .selectFrom('site_containers')
    .select(({ fn }) => fn.max('last_seen_at').as('last_seen_at'))
    .where('site_no', '=', siteNo)
    .executeTakeFirst()
  return row?.last_seen_at ?? null
}

/** When each site last sent an event (epoch ms), by `site_no`; of the sites with these numbers, or of all. */
export async function lastEventTimes(db: Kysely<Tables>, siteNos?: readonly number[]): Promise<Map<number, number>> {
  let query = db
    .selectFrom('site_containers')
    .select(({ fn }) => ['site_no', fn.max('last_seen_at').as('last_seen_at')])
    .groupBy('site_no')
  if (siteNos?.length === 0) return new Map()
  if (siteNos !== undefined) query = query.where('site_no', 'in', siteNos)
  const rows = await query.execute()
  return new Map(rows.map((row) => [row.site_no, row.last_seen_at]))
}
