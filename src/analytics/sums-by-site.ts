import { type RawBuilder, sql } from 'kysely'
import { ceilTo, HOUR } from '../lib/index.ts'
import { GRAIN, type TimeRange } from '../rollups/index.ts'
import type { Kysely, Tables } from '../store/index.ts'
import type { Sums } from './sums.ts'
import { type TagIdentity, tagIdentity } from './tag-identity.ts'

/**
 * Sums over a range of days or less, for many sites in one statement: hour rows of hours that are not dirty, minute rows of
 * dirty hours and of the partial hour at the start. (A plan per site would be a statement per site.) Each part groups in the
 * order of the key it reads by; grouped otherwise, the dirty hours take two and a half times as long to sort. Sums grouped by
 * `keyColumn` pay for that.
 */
export async function sumsBySite<M extends string>(
  db: Kysely<Tables>,
  table: 'event_rollups' | 'tag_rollups' | 'signal_rollups' | 'tag_signal_rollups',
  siteNos: readonly number[],
  range: TimeRange,
  measures: Readonly<Record<M, RawBuilder<number>>>,
  keyColumn: 'event_name' | 'tag_key',
): Promise<({ site_no: number; key: string } & Sums<M>)[]> {
  const hoursFrom = ceilTo(range.from, HOUR)
  const key = sql.ref(`r.${keyColumn}`)
  const sums = sql.join(
    Object.entries<RawBuilder<number>>(measures).map(([name, measure]) => sql`${measure} as ${sql.ref(name)}`),
  )
  const rollups = sql.table(table)
  const sites = sql.join(siteNos)
  // The last hour may reach beyond the range. One bound and not two: SQLite looks for rows by one of them.
  const hourEnd = sql`case when m.bucket + ${HOUR} < cast(${range.to} as bigint) then m.bucket + ${HOUR} else cast(${range.to} as bigint) end`
  const { rows } = await sql<{ site_no: number; key: string } & Sums<M>>`
    select r.site_no, ${key} as key, ${sums} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.minute}
      and r.bucket >= ${range.from} and r.bucket < ${hoursFrom}
    group by r.site_no, ${key}
    union all
    select r.site_no, ${key} as key, ${sums} from ${rollups} r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.hour} and r.bucket >= ${hoursFrom} and r.bucket < ${range.to}
      and not exists (
        select 1 from rollup_marks m
        where m.site_no = r.site_no and m.grain = ${GRAIN.hour} and m.bucket = r.bucket - r.bucket % ${HOUR}
      )
    group by r.site_no, ${key}
    union all
    select m.site_no, ${key} as key, ${sums} from rollup_marks m
    join ${rollups} r
      on r.site_no = m.site_no and r.grain = ${GRAIN.minute} and r.bucket >= m.bucket and r.bucket < ${hourEnd}
    where m.site_no in (${sites}) and m.grain = ${GRAIN.hour} and m.bucket >= ${hoursFrom} and m.bucket < ${range.to}
    group by m.site_no, ${key}`.execute(db)
  return rows
}

/** By `site_no`: what the keys of each site's tags mean. Sites that never sent an id have none. */
export async function identitiesOf(db: Kysely<Tables>, siteNos: readonly number[]): Promise<Map<number, TagIdentity>> {
  const rows = await db
    .selectFrom('tag_names')
    .select(['site_no', 'container_id', 'tag_id', 'tag_name', 'last_seen_at'])
    .where('site_no', 'in', siteNos)
    .execute()
  const bySite = Map.groupBy(rows, ({ site_no }) => site_no)
  return new Map(Array.from(bySite, ([siteNo, ofSite]) => [siteNo, tagIdentity(ofSite)]))
}
