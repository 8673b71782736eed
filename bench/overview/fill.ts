import { sql } from 'kysely'
import { DAY, floorTo, HOUR, MINUTE, newId } from '../../src/lib/index.ts'
import { EVENT_COLUMNS, GRAIN, newPart, SECTION_ORDER, TAG_COLUMNS } from '../../src/rollups/index.ts'
import { openSqliteStore, type Store } from '../../src/store/index.ts'
import { importSites } from '../../testkit/many-sites.ts'
import { newProbeRow } from '../../testkit/probes.ts'
import { type NamedCounts, sectionsOf } from '../lib/counts.ts'

export interface Agency {
  sites: number
  probesPerSite: number
}

const EVENTS = ['page_view', 'view_item', 'add_to_cart', 'begin_checkout', 'purchase']
const TAGS = ['GA4', 'Google Ads', 'Meta CAPI', 'TikTok', 'Pinterest', 'LinkedIn', 'Snapchat', 'Floodlight']
const CONTAINER = 'GTM-BENCH'
const PROBES_PER_STATEMENT = 500
/** Minutes between two in which a site sends something. */
const SILENT_MINUTES = 5

/** Writes sites with a day of traffic and probes that have all run into an empty data folder, for a server to be started on. */
export async function fillAgency(dataDir: string, { sites, probesPerSite }: Agency): Promise<void> {
  await importSites(dataDir, sites)
  const store = await openSqliteStore(dataDir)
  try {
    await fillProbes(store, probesPerSite)
    await fillTraffic(store, Date.now())
  } finally {
    await store.close()
  }
}

async function fillProbes(store: Store, perSite: number): Promise<void> {
  const now = Date.now()
  const sites = await store.read.selectFrom('sites').select('id').orderBy('site_no').execute()
  const probes = sites.flatMap(({ id }) =>
    Array.from({ length: perSite }, (_, index) =>
      newProbeRow(id, {
        id: newId(),
        probe_type: 'http_health',
        name: `Tag server health ${index}`,
        interval_seconds: 86_400,
        created_at: now,
        next_run_at: now + DAY,
        last_status: index === 3 ? 'warning' : 'ok',
        last_message: 'The tag server answered with 200 in 34 ms, as it usually does',
        last_response_time_ms: 34,
        last_result_at: now,
      }),
    ),
  )
  for (let start = 0; start < probes.length; start += PROBES_PER_STATEMENT) {
    await store.write
      .insertInto('probes')
      .values(probes.slice(start, start + PROBES_PER_STATEMENT))
      .execute()
  }
}

/** Hour rows of the day, parts of the minutes of its two ragged ends, and the mark of the hour under way: what the overview reads. */
async function fillTraffic(store: Store, now: number): Promise<void> {
  const hour = floorTo(now, HOUR)
  const ragged = [hour - DAY, hour].flatMap((start) =>
    Array.from({ length: HOUR / MINUTE }, (_, minute) => start + minute * MINUTE),
  )
  const minutes = ragged.filter((minute, index) => minute <= now && index % SILENT_MINUTES === 0)
  const hours = Array.from({ length: DAY / HOUR }, (_, index) => hour - (DAY - index * HOUR))
  await store.write.transaction().execute(async (db) => {
    const sections = sectionsOf({ event_rollups: once(EVENTS, EVENT_COLUMNS), tag_rollups: once(TAGS, TAG_COLUMNS) })
    await sql`
      insert into minute_parts
        (site_no, bucket, container_id, part, ${sql.join(SECTION_ORDER.map((section) => sql.ref(section)))})
      select site_no, b.value, ${CONTAINER}, ${newPart()}, ${sql.join(sections)}
      from sites, json_each(${JSON.stringify(minutes)}) b order by site_no, b.value`.execute(db)
    for (const [table, columns, key, names] of [
      ['event_rollups', EVENT_COLUMNS, 'event_name', EVENTS] as const,
      ['tag_rollups', TAG_COLUMNS, 'tag_key', TAGS] as const,
    ]) {
      const counts = sql.join(columns.map(() => sql.lit(HOUR / MINUTE / SILENT_MINUTES)))
      await sql`
        insert into ${sql.table(table)}
          (site_no, grain, bucket, container_id, ${sql.ref(key)}, ${sql.join(columns.map((column) => sql.ref(column)))})
        select site_no, ${GRAIN.hour}, b.value, ${CONTAINER}, n.value, ${counts}
        from sites, json_each(${JSON.stringify(hours)}) b, json_each(${JSON.stringify(names.toSorted())}) n
        order by site_no, b.value, n.value`.execute(db)
    }
    await sql`insert into dirty_buckets (site_no, grain, bucket) select site_no, ${GRAIN.hour}, ${hour} from sites`.execute(
      db,
    )
    await sql`insert into site_containers (site_no, container_id, last_seen_at) select site_no, ${CONTAINER}, ${now} from sites`.execute(
      db,
    )
  })
}

/** A count of one in each column, for each name. */
const once = (names: readonly string[], columns: readonly string[]): NamedCounts[] =>
  names.map((name) => ({ names: [name], counts: columns.map(() => 1) }))
