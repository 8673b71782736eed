import { type RawBuilder, sql } from 'kysely'
import { rollupRows } from '../../bench/lib/counts.ts'
import { DAY, floorTo } from '../../src/lib/index.ts'
import { GRAIN, NAME_COLUMNS } from '../../src/rollups/index.ts'
import { columnsOf, type Store } from '../../src/store/index.ts'

/** How much a site has sent under. */
export interface Bloat {
  days: number
  containers: number
  tags: number
  events: number
}

/** As many containers and tags as rules let a site keep for a year, or near it: a row for each of them and each day. */
export const BLOATED: Bloat = { days: 400, containers: 10, tags: 250, events: 50 }

/** One execution of each tag, and one event of each name, in each container and day. */
const ONCE: Readonly<Record<string, number>> = { success: 1, executions: 1, events: 1, total: 1 }

/**
 * Gives a site the past of one whose sender names its containers and tags at will. Within the engine, which is ten times as
 * fast as sending it the rows.
 *
 * @param store whose service does not run, or has nothing to do
 */
export async function bloat(store: Store, siteId: string, { days, containers, tags, events }: Bloat): Promise<void> {
  const { site_no } = await store.read
    .selectFrom('sites')
    .select('site_no')
    .where('id', '=', siteId)
    .executeTakeFirstOrThrow()
  const start = floorTo(Date.now(), DAY) - (days - 1) * DAY
  await fill('tag_rollups', tags)
  await fill('event_rollups', events)

  async function fill(table: 'tag_rollups' | 'event_rollups', names: number): Promise<void> {
    const columns = columnsOf(rollupRows(table))
    const values: Readonly<Record<string, RawBuilder<unknown>>> = {
      site_no: sql.lit(site_no),
      grain: sql.lit(GRAIN.day),
      bucket: sql`${sql.lit(start)} + cast(days.n as bigint) * ${sql.lit(DAY)}`,
      container_id: sql`'GTM-B' || containers.n`,
      [NAME_COLUMNS[table][0]]: sql`'Bloat ' || names.n`,
    }
    await sql`
      insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      with recursive
        days(n) as (select 0 union all select n + 1 from days where n < ${sql.lit(days - 1)}),
        containers(n) as (select 0 union all select n + 1 from containers where n < ${sql.lit(containers - 1)}),
        names(n) as (select 0 union all select n + 1 from names where n < ${sql.lit(names - 1)})
      select ${sql.join(columns.map((column) => values[column] ?? sql.lit(ONCE[column] ?? 0)))}
      from days cross join containers cross join names
    `.execute(store.write)
  }
}
