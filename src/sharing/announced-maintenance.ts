import { nearestWindow, scheduleOf } from '../alerts/index.ts'
import { type Clock, DAY, MINUTE } from '../lib/index.ts'
import type { AnnouncedMaintenanceRow, Kysely, Store, Tables, Transaction } from '../store/index.ts'
import { timeAfterAll } from './announced-incidents.ts'
import { AHEAD_MS } from './history.ts'
import { isNews, type MaintenanceChange } from './subscription-mails.ts'

/** Changes are announced once no one has changed anything further for this time, ms: corrections are part of the same e-mail. */
const GATHER_MS = MINUTE
/** Changes are announced after this time even if more keep coming, ms. */
const LONGEST_MS = 5 * MINUTE
/** What is over or cancelled is kept for this time, ms, which is longer than an e-mail about it waits. */
const KEPT_MS = 2 * DAY

const SCHEDULE = ['kind', 'starts_at', 'ends_at', 'weekdays', 'start', 'duration_minutes', 'timezone'] as const

type Plan = Omit<AnnouncedMaintenanceRow, 'is_planned' | 'planned_at' | 'changed_at'>

interface Pending {
  /** The differences as text. */
  print: string
  /** When the first one was seen, epoch ms. */
  since: number
  /** When they were last seen to change, epoch ms. */
  changedAt: number
}

/**
 * Records changes of the maintenance that status pages show, compared with what their subscribers know. What is being gathered is
 * only in memory: another node that takes over gathers it again, which takes a minute longer.
 */
export class MaintenanceAnnouncer {
  readonly #store: Store
  readonly #clock: Clock
  #pending = new Map<string, Pending>()

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  async announce(): Promise<void> {
    const now = this.#clock.now()
    const plans = Map.groupBy(await plannedNow(this.#store.read, now), ({ client_id }) => client_id)
    const known = Map.groupBy(await announcedOf(this.#store.read).execute(), ({ client_id }) => client_id)
    const before = this.#pending
    this.#pending = new Map()
    for (const clientId of new Set([...plans.keys(), ...known.keys()])) {
      const last = before.get(clientId)
      // As of when the first was seen: work that was cancelled in time may have begun while more was gathered.
      const since = last?.since ?? now
      const ofClient = known.get(clientId) ?? []
      const changes = changesOf(ofClient, plans.get(clientId) ?? [], since)
      if (changes.length === 0) continue
      const print = JSON.stringify(changes)
      const changedAt = last?.print === print ? last.changedAt : now
      if (now - changedAt < GATHER_MS && now - since < LONGEST_MS) {
        this.#pending.set(clientId, { print, since, changedAt })
        continue
      }
      const at = new Map(ofClient.map(({ id, changed_at }) => [id, changed_at]))
      await this.#store.write.transaction().execute(async (trx) => {
        const announcedAt = await timeAfterAll(trx, clientId, this.#clock.now())
        for (const change of changes) {
          const times = { planned_at: change.planned_at ?? announcedAt, changed_at: announcedAt }
          await write(trx, { ...change, ...times }, at.get(change.id))
        }
      })
    }
  }
}

type Change = Plan & { is_planned: 0 | 1; planned_at: number | null }

/** Returns the rows that differ from what is known; `planned_at` is null for those that are news. */
function changesOf(known: readonly AnnouncedMaintenanceRow[], plans: readonly Plan[], at: number): Change[] {
  const rows = new Map(known.map((row) => [row.id, row]))
  const changes: Change[] = []
  for (const plan of plans) {
    const row = rows.get(plan.id)
    rows.delete(plan.id)
    if (row?.is_planned === 1) {
      if (SCHEDULE.every((field) => row[field] === plan[field])) continue
      changes.push({ ...plan, is_planned: 1, planned_at: row.planned_at })
      continue
    }
    const window = nearestWindow(scheduleOf(plan), at)
    if (window !== null && window.startsAt < at + AHEAD_MS) changes.push({ ...plan, is_planned: 1, planned_at: null })
  }
  for (const { changed_at: _, ...row } of rows.values()) {
    const isAhead = row.starts_at === null || row.starts_at > at
    if (row.is_planned === 1 && isAhead) changes.push({ ...row, is_planned: 0 })
  }
  return changes
}

/** @param changedAt of the row that the change was compared with: another node may have written the same change by now */
async function write(trx: Transaction<Tables>, row: AnnouncedMaintenanceRow, changedAt: number | undefined) {
  if (changedAt === undefined) {
    await trx
      .insertInto('announced_maintenance')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    return
  }
  await trx
    .updateTable('announced_maintenance')
    .set(row)
    .where('id', '=', row.id)
    .where('changed_at', '=', changedAt)
    .execute()
}

/** Returns the maintenance that status pages show now or later; none of paused clients and sites, which nothing is said about. */
const plannedNow = (db: Kysely<Tables>, now: number): Promise<Plan[]> =>
  db
    .selectFrom('maintenance')
    .leftJoin('sites', 'sites.id', 'maintenance.site_id')
    .innerJoin('status_links', (join) =>
      join.on(({ eb, fn }) =>
        eb('status_links.client_id', '=', fn.coalesce('maintenance.client_id', 'sites.client_id')),
      ),
    )
    .innerJoin('clients', 'clients.id', 'status_links.client_id')
    .select(['maintenance.id', 'status_links.client_id', 'maintenance.site_id', 'maintenance.kind'])
    .select(['maintenance.starts_at', 'maintenance.ends_at', 'maintenance.weekdays', 'maintenance.start'])
    .select(['maintenance.duration_minutes', 'maintenance.timezone'])
    .where('clients.is_active', '=', 1)
    .where('maintenance.is_active', '=', 1)
    .where(({ eb, or }) => or([eb('maintenance.ends_at', 'is', null), eb('maintenance.ends_at', '>', now)]))
    .where(({ eb, or }) => or([eb('maintenance.site_id', 'is', null), eb('sites.is_active', '=', 1)]))
    .orderBy('maintenance.id')
    .execute()

const announcedOf = (db: Kysely<Tables>) =>
  db
    .selectFrom('announced_maintenance')
    .innerJoin('status_links', 'status_links.client_id', 'announced_maintenance.client_id')
    .innerJoin('clients', 'clients.id', 'announced_maintenance.client_id')
    .leftJoin('sites', 'sites.id', 'announced_maintenance.site_id')
    .selectAll('announced_maintenance')
    .where('clients.is_active', '=', 1)
    .where(({ eb, or }) => or([eb('announced_maintenance.site_id', 'is', null), eb('sites.is_active', '=', 1)]))
    .orderBy('announced_maintenance.id')

/** Returns the maintenance of a client's page that was announced lately. */
export const announcedLately = (
  { read }: Pick<Store, 'read'>,
  clientId: string,
  now: number,
): Promise<AnnouncedMaintenanceRow[]> =>
  announcedOf(read)
    .where('announced_maintenance.client_id', '=', clientId)
    .where('changed_at', '>', now - DAY)
    .execute()

/**
 * Returns the changes of maintenance that a subscriber has not been e-mailed about yet: one of each, however often it has changed
 * since, and none of what is over or was cancelled before they knew of it.
 */
export function maintenanceSince(
  rows: readonly AnnouncedMaintenanceRow[],
  sites: readonly { id: string; name: string; timezone: string }[],
  until: number,
  now: number,
): MaintenanceChange[] {
  const zones = new Set(sites.map(({ timezone }) => timezone))
  const [zone = 'UTC'] = zones.size === 1 ? zones : []
  return rows.flatMap((row): MaintenanceChange[] => {
    const { site_id, is_planned, planned_at, changed_at: at } = row
    const schedule = scheduleOf(row)
    const window = nearestWindow(schedule, now)
    const site = sites.find(({ id }) => id === site_id)
    const isNew = planned_at > until
    if (!isNews({ at }, until, now) || window === null || (site === undefined && site_id !== null)) return []
    if (is_planned === 0 && isNew) return []
    const kind = is_planned === 0 ? 'cancelled' : isNew ? 'planned' : 'changed'
    return [{ at, kind, site: site?.name ?? 'all sites', timezone: site?.timezone ?? zone, schedule, window }]
  })
}

/** Forgets maintenance that is over or cancelled, and that of sites and pages that are gone. */
export async function forgetAnnounced({ write }: Pick<Store, 'write'>, now: number): Promise<void> {
  await write
    .deleteFrom('announced_maintenance')
    .where(({ and, eb, exists, not, or, selectFrom }) =>
      or([
        eb('ends_at', '<', now - KEPT_MS),
        and([eb('is_planned', '=', 0), eb('changed_at', '<', now - KEPT_MS)]),
        not(
          exists(
            selectFrom('status_links')
              .select('status_links.client_id')
              .whereRef('status_links.client_id', '=', 'announced_maintenance.client_id'),
          ),
        ),
        and([
          eb('site_id', 'is not', null),
          not(
            exists(selectFrom('sites').select('sites.id').whereRef('sites.id', '=', 'announced_maintenance.site_id')),
          ),
        ]),
      ]),
    )
    .execute()
}
