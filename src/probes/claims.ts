import { createHash } from 'node:crypto'
import { type ExpressionBuilder, sql } from 'kysely'
import { liveNodes } from '../cluster/index.ts'
import { AppError, MINUTE, SECOND } from '../lib/index.ts'
import type { ProbeRow, SiteRow, Store, Tables, Transaction } from '../store/index.ts'

/** The node that claims, and the time. */
interface Claimant {
  store: Store
  nodeId: string
  now: number
}

/** From the end of one round of claiming to the next. */
export const CLAIM_INTERVAL_MS = 200
/**
 * How long before its time a probe is claimed: until the next round, plus what a round may take under load. So each probe
 * starts at its own time, instead of all together with the round.
 */
export const CLAIM_AHEAD_MS = CLAIM_INTERVAL_MS + 100

/** How long a probe rests whose node died during its run, ms after the claim; its interval if that is shorter. */
const LOST_RUN_MS = MINUTE

/** When a claimed probe was due, epoch ms. */
export const dueAtOf = ({ due_at, next_run_at }: ProbeRow): number => due_at ?? next_run_at

/**
 * The columns that a claim sets. A claim moves the probe on before it runs: if the run ends the process, the next start must not begin
 * with it. A node that takes over a dead node's claim moves the probe on further each time, by 1, 4, 9, … times the first rest.
 */
const claimedBy = (nodeId: string, now: number) => {
  const lost = sql<number>`(case when claimed_by is null then 0 else lost_runs + 1 end)`
  const rest = sql`(case when interval_seconds * ${sql.lit(SECOND)} < ${sql.lit(LOST_RUN_MS)} then interval_seconds * ${sql.lit(SECOND)} else ${sql.lit(LOST_RUN_MS)} end)`
  const from = sql`(case when next_run_at > cast(${now} as bigint) then next_run_at else cast(${now} as bigint) end)`
  return {
    claimed_by: nodeId,
    claimed_at: now,
    due_at: sql<number>`next_run_at`,
    lost_runs: lost,
    next_run_at: sql<number>`${from} + ${rest} * (${lost} + 1) * (${lost} + 1)`,
  }
}

/**
 * Claims the probes of these types that are due before `until`, longest due first, and returns them. One statement, so that
 * each probe goes to one node. A claim lasts until it is released or its node is dead.
 *
 * @param until epoch ms
 * @param busyClients those at their limit, whose probes are passed over
 */
export async function claimDue(
  { store, nodeId, now }: Claimant,
  types: readonly string[],
  until: number,
  limit: number,
  busyClients: readonly string[],
): Promise<ProbeRow[]> {
  if (types.length === 0 || limit <= 0) return []
  const rows = await store.write
    .updateTable('probes')
    .set(claimedBy(nodeId, now))
    .where('id', 'in', (db) =>
      db
        .selectFrom('probes')
        .select('id')
        .where('is_active', '=', 1)
        .where('next_run_at', '<=', until)
        .where('probe_type', 'in', types)
        .where(isFree(store, now))
        .$if(busyClients.length > 0, (due) =>
          due.where('site_id', 'not in', (sites) =>
            sites.selectFrom('sites').select('sites.id').where('client_id', 'in', busyClients),
          ),
        )
        .orderBy('next_run_at')
        .limit(limit)
        // Skips the rows that another node is claiming at this moment, instead of waiting for it.
        .$if(store.isShared, (due) => due.forUpdate().skipLocked()),
    )
    .returningAll()
    .execute()
  return rows.sort((a, b) => dueAtOf(a) - dueAtOf(b))
}

/**
 * Claims a probe for a run by hand, due or not; undefined when it does not exist.
 *
 * @param round runs a round of this node's claiming, or joins the current one
 * @throws AppError `conflict` when another node is running it
 */
export async function claimByHand(
  claimant: Claimant,
  id: string,
  round: () => Promise<void>,
): Promise<ProbeRow | undefined> {
  const { store, nodeId } = claimant
  const claimed = await claimOne(claimant, id)
  if (claimed !== undefined) return claimed
  const there = await store.read.selectFrom('probes').select('claimed_by').where('id', '=', id).executeTakeFirst()
  if (there === undefined) return undefined
  if (there.claimed_by === null || there.claimed_by === nodeId) {
    // The current round had just claimed it, and releases what is active on its node: it has done so, or is about to.
    await round()
    const released = await claimOne(claimant, id)
    if (released !== undefined) return released
  }
  throw new AppError('conflict', 'The probe is already running; its result will be in the list')
}

const claimOne = async ({ store, nodeId, now }: Claimant, id: string): Promise<ProbeRow | undefined> =>
  store.write
    .updateTable('probes')
    .set(claimedBy(nodeId, now))
    .where('id', '=', id)
    .where(isFree(store, now))
    .returningAll()
    .executeTakeFirst()

/** Claims probes for runs already made, at `now` (epoch ms). Only for a store that no other process uses. */
export async function claimAfterwards(
  trx: Transaction<Tables>,
  nodeId: string,
  ids: readonly string[],
  now: number,
): Promise<void> {
  await trx.updateTable('probes').set({ claimed_by: nodeId, claimed_at: now }).where('id', 'in', ids).execute()
}

/** Releases claims without a result; the probes are due as before. */
export async function releaseClaims(store: Store, nodeId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await store.write
    .updateTable('probes')
    .set({ claimed_by: null, claimed_at: null, next_run_at: sql`coalesce(due_at, next_run_at)`, due_at: null })
    .where('claimed_by', '=', nodeId)
    .where('id', 'in', ids)
    .execute()
}

const isFree = (store: Store, now: number) => (eb: ExpressionBuilder<Tables, 'probes'>) =>
  eb.or([eb('claimed_by', 'is', null), eb('claimed_by', 'not in', liveNodes(store.write, now))])

/** The active sites of these probes whose client is active, by id. */
export async function activeSites(store: Store, probes: readonly ProbeRow[]): Promise<Map<string, SiteRow>> {
  const ids = [...new Set(probes.map((probe) => probe.site_id))]
  const sites = await store.read
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .selectAll('sites')
    .where('sites.id', 'in', ids)
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .execute()
  return new Map(sites.map((site) => [site.id, site]))
}

export const siteOf = (store: Store, { site_id }: ProbeRow): Promise<SiteRow | undefined> =>
  store.read.selectFrom('sites').selectAll().where('id', '=', site_id).executeTakeFirst()

/** The client of a probe; undefined when the probe does not exist. */
export async function clientOf({ read }: Pick<Store, 'read'>, probeId: string): Promise<string | undefined> {
  const row = await read
    .selectFrom('probes')
    .innerJoin('sites', 'sites.id', 'probes.site_id')
    .select('sites.client_id')
    .where('probes.id', '=', probeId)
    .executeTakeFirst()
  return row?.client_id
}

/** Ids of the probes that the node has claimed. */
export async function claimsOf(store: Store, nodeId: string): Promise<string[]> {
  const rows = await store.read.selectFrom('probes').select('id').where('claimed_by', '=', nodeId).execute()
  return rows.map(({ id }) => id)
}

/** Tolerance for clocks that differ between nodes, and for probes that were moved on a moment ago. */
const CLOCK_SLACK_MS = MINUTE
const BROUGHT_FORWARD = 500

/**
 * Brings forward probes that are due later than any run or claim would set them, because the clock was ahead. Otherwise they would rest for as
 * long as it was ahead, and nothing would watch their targets. A probe that a call has made due meanwhile keeps its earlier time.
 */
export async function bringForward(store: Store, now: number): Promise<void> {
  const rest = sql<number>`interval_seconds * ${sql.lit(SECOND)} + ${sql.lit(LOST_RUN_MS)} * (lost_runs + 1) * (lost_runs + 1)`
  for (;;) {
    const late = await store.read
      .selectFrom('probes')
      .select(['id', 'interval_seconds'])
      .where(isFree(store, now))
      .where('next_run_at', '>', sql<number>`cast(${now + CLOCK_SLACK_MS} as bigint) + ${rest}`)
      .limit(BROUGHT_FORWARD)
      .execute()
    if (late.length === 0) return
    const values = late.map(
      ({ id, interval_seconds }) => sql`(${sql.join([id, firstRunAt(id, interval_seconds, now)])})`,
    )
    await sql`
      update probes set next_run_at = cast(v.column2 as bigint) from (values ${sql.join(values)}) as v
      where probes.id = v.column1 and (probes.claimed_by is null or probes.claimed_by not in ${liveNodes(store.write, now)})
        and probes.next_run_at > cast(v.column2 as bigint)`.execute(store.write)
  }
}

/** A new probe has its first result within this time, however long its interval. */
const FIRST_RUN_WITHIN_SECONDS = 60

/** When a probe created now runs first, epoch ms; spread like later runs. */
export const firstRunAt = (id: string, intervalSeconds: number, now: number): number =>
  nextRunAt(id, Math.min(intervalSeconds, FIRST_RUN_WITHIN_SECONDS), now)

/** A run by hand replaces the regular run if that is due within this share of the interval. */
const BY_HAND_SHARE = 0.05

/**
 * When a probe that has just run is due again, epoch ms. A run slightly before its time was the regular one: clocks are set back, and
 * timers fire early. A run earlier than that was by hand, and must not be followed by the regular one a moment later.
 */
export function dueAfterRun(probe: ProbeRow, intervalSeconds: number, now: number): number {
  const dueAt = dueAtOf(probe)
  const after = dueAt - now <= CLAIM_AHEAD_MS ? Math.max(now, dueAt) : now + intervalSeconds * SECOND * BY_HAND_SHARE
  return nextRunAt(probe.id, intervalSeconds, after)
}

/**
 * The first time after `now` on the probe's own grid, epoch ms: multiples of the interval, shifted by a hash of the id. So
 * probes created together spread evenly over the interval, and one run makes up for several missed ones.
 */
export function nextRunAt(id: string, intervalSeconds: number, now: number): number {
  const interval = intervalSeconds * SECOND
  const offset = createHash('sha256').update(id).digest().readUIntBE(0, 6) % interval
  return Math.floor((now - offset) / interval) * interval + offset + interval
}
