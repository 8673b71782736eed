import { floorTo, isoTime, MINUTE, nextMonthStart, number, percent } from '../lib/index.ts'
import { hasNoKey, monthUsage } from '../management/index.ts'
import { CONTAINERS_PER_DAY, LINKS_PER_DAY, NAMES_PER_DAY, OTHER, type TimeRange } from '../rollups/index.ts'
import { type EventCounts, type Kysely, type SiteRow, type Tables, totalOf } from '../store/index.ts'

export interface ContainerReport {
  container_id: string
  /** Epoch ms. */
  last_seen: number
  /** Its clients that claimed events, the latest first; empty where the sender does not name them. */
  clients: { name: string; last_seen: number }[]
}

/** Most containers in a report. */
const CONTAINERS_SHOWN = 100
/** Most clients in a report, over all containers. */
const CLIENTS_SHOWN = 200

/** The containers that sent something last, the latest first; independent of the window. */
export async function containersOf(db: Kysely<Tables>, siteNo: number): Promise<ContainerReport[]> {
  const containers = await db
    .selectFrom('site_containers')
    .select(['container_id', 'last_seen_at as last_seen'])
    .where('site_no', '=', siteNo)
    .orderBy('last_seen_at', 'desc')
    .orderBy('container_id')
    .limit(CONTAINERS_SHOWN)
    .execute()
  const clients = await db
    .selectFrom('container_clients')
    .select(['container_id', 'client_name as name', 'last_seen_at as last_seen'])
    .where('site_no', '=', siteNo)
    .orderBy('last_seen_at', 'desc')
    .orderBy('client_name')
    .limit(CLIENTS_SHOWN)
    .execute()
  const byContainer = Map.groupBy(clients, ({ container_id }) => container_id)
  return containers.map((container) => ({
    ...container,
    clients: (byContainer.get(container.container_id) ?? []).map(({ name, last_seen }) => ({ name, last_seen })),
  }))
}

/** When tag ids last exceeded the daily cap, epoch ms, or null. The fold writes a row for it. */
export async function idsOverCapAt(db: Kysely<Tables>, siteNo: number): Promise<number | null> {
  const row = await db
    .selectFrom('tag_names')
    .select('last_seen_at')
    .where('site_no', '=', siteNo)
    .where('container_id', '=', OTHER)
    .where('tag_id', '=', OTHER)
    .executeTakeFirst()
  return row?.last_seen_at ?? null
}

/** Requests refused in the minutes of `range`, by reason. */
export async function rejectionsOf(
  db: Kysely<Tables>,
  siteNo: number,
  range: TimeRange,
): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('rejection_counts')
    .select(['reason', totalOf('total').as('count')])
    .where('site_no', '=', siteNo)
    .where('bucket', '>=', floorTo(range.from, MINUTE))
    .where('bucket', '<', range.to)
    .groupBy('reason')
    .orderBy('reason')
    .execute()
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]))
}

/** An unresolved critical alert. */
export interface CriticalAlert {
  id: string
  title: string
}

/**
 * The critical alert that caps each site's score, by site id: the first of several, as on the wall. Acknowledged alerts count
 * too, as the problem is just as bad. Reads the table directly, because the alerts room is above this one: alerts are made from
 * reports.
 */
export async function criticalAlerts(
  db: Kysely<Tables>,
  siteIds: readonly string[],
): Promise<Map<string, CriticalAlert>> {
  if (siteIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('alerts')
    .select(['site_id', 'id', 'title'])
    .where('state', '<>', 'resolved')
    .where('severity', '=', 'critical')
    .where('site_id', 'in', siteIds)
    .orderBy('id', 'desc')
    .execute()
  return new Map(rows.map(({ site_id, id, title }) => [site_id, { id, title }]))
}

/** Why a report is less precise than it looks. */
export interface Warning {
  code:
    | 'events_over_cap'
    | 'tags_over_cap'
    | 'containers_over_cap'
    | 'tag_ids_over_cap'
    | 'user_data_over_total'
    | 'ecommerce_over_total'
    | 'clock_skew'
    | 'quota_near'
    | 'quota_used_up'
    | 'key_revoked'
  message: string
}

/** The facts that warnings are made from. */
export interface Seen {
  /** Whether some event names, or some tags, were counted as `(other)`. */
  events: boolean
  tags: boolean
  /** Whether some day of the window had too many containers, or too many tag ids with names. */
  containers: boolean
  tagIds: boolean
  counts: Pick<EventCounts, 'total' | 'skewed' | 'user_data_total' | 'ecommerce_total'>
}

export function warningsOf({ events, tags, containers, tagIds, counts }: Seen): Warning[] {
  const { total, skewed, user_data_total, ecommerce_total } = counts
  const warnings: Warning[] = []
  if (events) warnings.push({ code: 'events_over_cap', message: overCap('event names') })
  if (tags) warnings.push({ code: 'tags_over_cap', message: overCap('tags') })
  if (containers) {
    const message = `more than ${CONTAINERS_PER_DAY} containers sent data on one day: the rest are counted together as ${OTHER}`
    warnings.push({ code: 'containers_over_cap', message })
  }
  if (tagIds) {
    const message = `more than ${LINKS_PER_DAY} pairs of a tag id and a name arrived on one day: the rest are counted by name, without their ids`
    warnings.push({ code: 'tag_ids_over_cap', message })
  }
  if (user_data_total > total) {
    warnings.push({ code: 'user_data_over_total', message: overTotal('user data', user_data_total, total) })
  }
  if (ecommerce_total > total) {
    warnings.push({ code: 'ecommerce_over_total', message: overTotal('e-commerce data', ecommerce_total, total) })
  }
  if (skewed > 0) {
    warnings.push({
      code: 'clock_skew',
      message:
        `${skewed} of ${total} events came with a time more than 24 hours old or 5 minutes ahead ` +
        'and were counted at their time of arrival: check the clock of the sending server',
    })
  }
  return warnings
}

const overTotal = (what: string, reported: number, total: number): string =>
  `batches report ${what} for ${reported} events, but only ${total} events: check how the sender counts`

const overCap = (what: string): string =>
  `more than ${NAMES_PER_DAY} different ${what} were used on one day, or too many in too many minutes: the rest are counted together as ${OTHER}`

/** Why a site's requests are refused now, or soon will be; independent of the window. */
export async function admissionWarnings(db: Kysely<Tables>, site: SiteRow, now: number): Promise<Warning[]> {
  const warnings: Warning[] = []
  if (site.key_revoked_at !== null && hasNoKey(site, now)) {
    const message = `the last valid key ended at ${isoTime(site.key_revoked_at)}: every request of the site is refused until you add one`
    warnings.push({ code: 'key_revoked', message })
  }
  const usage = await monthUsage(db, site.client_id, now)
  if (usage === null || usage.level === 'ok') return warnings
  const { events, limit, level } = usage
  const used = `${number(events)} of the client's ${number(limit)} events of this month`
  const until = isoTime(nextMonthStart(now))
  warnings.push(
    level === 'exceeded'
      ? { code: 'quota_used_up', message: `${used} are used up: every request is refused until ${until}` }
      : {
          code: 'quota_near',
          message: `${used} (${percent(events / limit)}) are used: once all are, every request is refused until ${until}`,
        },
  )
  return warnings
}
