import { sql } from 'kysely'
import { DAY, newOrderedId, storable } from '../lib/index.ts'
import {
  chunksOf,
  type Kysely,
  type ProbeResultRow,
  type ProbeRow,
  type SiteRow,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import type { Finished } from './result.ts'
import { nextRunAt } from './schedule.ts'

const WHILE_NEW_SECONDS = 60

/**
 * Writes results and moves the probes on to their next run, in a few statements whatever their number: while a transaction is
 * open, ingest cannot commit. Returns what was written. The rest is of runs whose claim was lost meanwhile, because the node
 * was taken for dead or the probe was deleted: the node that has the claim now writes the result.
 */
export async function writeResults(
  trx: Transaction<Tables>,
  nodeId: string,
  finished: readonly Finished[],
  now: number,
): Promise<Finished[]> {
  const moved = await moveOn(trx, nodeId, finished, now)
  const written = finished.filter(({ probe }) => moved.has(probe.id))
  const markers = written.flatMap(({ site, deployMarkers, result }) =>
    deployMarkers.map(({ source, fromVersion, toVersion, at = result.executed_at, details = {} }) => ({
      site_id: site.id,
      id: newOrderedId(at),
      at,
      source: storable(source),
      from_version: fromVersion === null ? null : storable(fromVersion),
      to_version: storable(toVersion),
      details: JSON.stringify(details),
    })),
  )
  for (const rows of chunksOf(written.map(({ result }) => result))) {
    await trx.insertInto('probe_results').values(rows).execute()
  }
  if (markers.length > 0) await trx.insertInto('deploy_markers').values(markers).execute()
  return written
}

/** Notes on results that they were found during maintenance; on these objects too, which the caller who asked for the run gets. */
export async function markResults(
  trx: Transaction<Tables>,
  results: readonly ProbeResultRow[],
  maintenanceId: string,
): Promise<void> {
  for (const result of results) result.maintenance_id = maintenanceId
  for (const chunk of chunksOf(results)) {
    await trx
      .updateTable('probe_results')
      .set({ maintenance_id: maintenanceId })
      .where(
        'probe_id',
        'in',
        chunk.map(({ probe_id }) => probe_id),
      )
      .where(
        'id',
        'in',
        chunk.map(({ id }) => id),
      )
      .execute()
  }
}

/**
 * An interval that was changed during the run has set the next one already. Both engines name the columns of VALUES `column1`,
 * `column2`, …, and PostgreSQL takes untyped parameters in it for text.
 */
async function moveOn(
  trx: Transaction<Tables>,
  nodeId: string,
  finished: readonly Finished[],
  now: number,
): Promise<Set<string>> {
  const values = finished.map(
    ({ probe, site, result, consecutiveFailures, memory, recentStatuses, subjectStatuses }) =>
      sql`(${sql.join([
        probe.id,
        probe.claimed_at,
        probe.interval_seconds,
        nextRunAt(probe.id, intervalAfter(probe, site, result, now), now),
        result.status,
        result.message,
        result.response_time_ms,
        result.executed_at,
        consecutiveFailures,
        memory,
        recentStatuses,
        result.reason,
        subjectStatuses,
      ])})`,
  )
  const { rows } = await sql<{ id: string }>`
    update probes set
      claimed_by = null,
      claimed_at = null,
      next_run_at = case
        when interval_seconds = cast(v.column3 as bigint) then cast(v.column4 as bigint)
        else next_run_at
      end,
      last_status = v.column5,
      last_message = v.column6,
      last_response_time_ms = cast(v.column7 as bigint),
      last_result_at = cast(v.column8 as bigint),
      consecutive_failures = cast(v.column9 as bigint),
      memory = v.column10,
      recent_statuses = v.column11,
      last_reason = v.column12,
      subject_statuses = v.column13
    from (values ${sql.join(values)}) as v
    where probes.id = v.column1 and probes.claimed_by = ${nodeId} and probes.claimed_at = cast(v.column2 as bigint)
    returning probes.id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

/** Who has just set up a site looks every few seconds whether it works: until something is judged, its first day has short intervals. */
function intervalAfter(probe: ProbeRow, site: SiteRow, { reason }: ProbeResultRow, now: number): number {
  const isNew = reason !== null && now - site.created_at < DAY
  return isNew ? Math.min(probe.interval_seconds, WHILE_NEW_SECONDS) : probe.interval_seconds
}

/** Moves probes on that were claimed but are not to be run until then (epoch ms). */
export async function skipRun(
  db: Kysely<Tables>,
  nodeId: string,
  probes: readonly { id: string; interval_seconds: number }[],
  until: number,
): Promise<void> {
  const values = probes.map(
    ({ id, interval_seconds }) => sql`(${sql.join([id, nextRunAt(id, interval_seconds, until)])})`,
  )
  await sql`
    update probes set claimed_by = null, claimed_at = null, next_run_at = cast(v.column2 as bigint)
    from (values ${sql.join(values)}) as v
    where probes.id = v.column1 and probes.claimed_by = ${nodeId}`.execute(db)
}
