import { sql } from 'kysely'
import { asError, type Clock, DAY, firstIdAt, HOUR, newOrderedId, storable } from '../lib/index.ts'
import {
  chunksOf,
  type DeployMarkerTable,
  isPassing,
  type Kysely,
  type ProbeResultRow,
  type ProbeRow,
  type SiteRow,
  type Store,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import { dueAfterRun, nextRunAt } from './claims.ts'
import { type Finished, NO_STREAK } from './result.ts'

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
  const unseen = await unseenOf(trx, markers)
  for (const rows of chunksOf(unseen)) await trx.insertInto('deploy_markers').values(rows).execute()
  for (const siteId of new Set(unseen.map(({ site_id }) => site_id))) await forgetOldest(trx, siteId)
  return written
}

/** Deploy markers of a site: a sender with its key that names other versions all the time gets 57,600 a day. */
export const MOST_MARKERS = 10_000

async function forgetOldest(trx: Transaction<Tables>, siteId: string): Promise<void> {
  const ofSite = trx.selectFrom('deploy_markers').select('id').where('site_id', '=', siteId)
  const last = await ofSite.orderBy('id', 'desc').offset(MOST_MARKERS).limit(1).executeTakeFirst()
  if (last === undefined) return
  await trx.deleteFrom('deploy_markers').where('site_id', '=', siteId).where('id', '<=', last.id).execute()
}

/** How far apart two probes may see one change: one asks Google every quarter of an hour, the other waits for events. */
const SAME_CHANGE_MS = 6 * HOUR

/** Without the changes that another probe of the site has marked already. */
async function unseenOf(
  trx: Transaction<Tables>,
  markers: readonly DeployMarkerTable[],
): Promise<readonly DeployMarkerTable[]> {
  if (markers.length === 0) return markers
  const known = await trx
    .selectFrom('deploy_markers')
    .select(['site_id', 'source', 'from_version', 'to_version', 'at'])
    .where('site_id', 'in', [...new Set(markers.map(({ site_id }) => site_id))])
    .where('id', '>=', firstIdAt(Math.min(...markers.map(({ at }) => at)) - SAME_CHANGE_MS))
    .execute()
  return markers.filter(
    (marker) =>
      !known.some(
        ({ site_id, source, from_version, to_version, at }) =>
          site_id === marker.site_id &&
          source === marker.source &&
          from_version === marker.from_version &&
          to_version === marker.to_version &&
          Math.abs(at - marker.at) < SAME_CHANGE_MS,
      ),
  )
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
 * An interval that was changed during the run has set the next one already, and so has a call that came during it. Both engines name the columns of VALUES `column1`,
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
        dueAfterRun(probe, intervalAfter(probe, site, result, now), now),
        result.status,
        result.message,
        result.response_time_ms,
        result.executed_at,
        consecutiveFailures,
        memory,
        recentStatuses,
        result.reason,
        subjectStatuses,
        probe.next_run_at,
      ])})`,
  )
  const { rows } = await sql<{ id: string }>`
    update probes set
      claimed_by = null,
      claimed_at = null,
      next_run_at = case
        when interval_seconds = cast(v.column3 as bigint) and next_run_at >= cast(v.column14 as bigint) then cast(v.column4 as bigint)
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

/**
 * Moves probes on that were claimed but are not to be run until then (epoch ms).
 *
 * @param isPaused no one looks meanwhile: what was bad in a row no longer is
 */
export async function skipRun(
  db: Kysely<Tables>,
  nodeId: string,
  probes: readonly { id: string; interval_seconds: number }[],
  until: number,
  isPaused = false,
): Promise<void> {
  const values = probes.map(
    ({ id, interval_seconds }) => sql`(${sql.join([id, nextRunAt(id, interval_seconds, until)])})`,
  )
  const forgotten = Object.entries(isPaused ? NO_STREAK : {}).map(([name, value]) => sql`, ${sql.ref(name)} = ${value}`)
  await sql`
    update probes set claimed_by = null, claimed_at = null, next_run_at = cast(v.column2 as bigint) ${sql.join(forgotten, sql``)}
    from (values ${sql.join(values)}) as v
    where probes.id = v.column1 and probes.claimed_by = ${nodeId}`.execute(db)
}

/**
 * What else is decided by results: runs in the transaction that writes them, so that a result and what follows from it are
 * there together or not at all. Statements only: while it runs, ingest cannot commit.
 */
export type ResultHook = (trx: Transaction<Tables>, written: readonly Finished[]) => Promise<void>

interface ResultWriterOptions {
  store: Store
  clock: Clock
  nodeId: string
  onResults: ResultHook
  onError: (error: Error, what: string) => void
}

/** Results of one transaction: a few milliseconds of the writer's time. */
const RESULTS_PER_BATCH = 250

interface PendingResult {
  finished: Finished
  /** Called once: whether the result was written, or that it cannot be now. */
  settle: { resolve: (isWritten: boolean) => void; reject: (error: Error) => void }
}

/**
 * Gathers the results of runs and writes those that ended within a tick in one transaction. What the store does not take now
 * is kept for the next tick; its probes stay claimed until then, so that there are never more results than probes.
 */
export class ResultWriter {
  readonly #options: ResultWriterOptions
  #waiting: PendingResult[] = []

  constructor(options: ResultWriterOptions) {
    this.#options = options
  }

  /** Ids of the probes whose results wait. */
  get waiting(): string[] {
    return this.#waiting.map(({ finished }) => finished.probe.id)
  }

  /**
   * Resolves when the result is on disk: with false when it was not written, because the claim of its run was lost.
   *
   * @throws StoreError when the store does not take it now (it is tried again), or whatever it cannot be written for
   */
  add(finished: Finished): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ finished, settle: { resolve, reject } })
    })
  }

  /** Writes all that waits. Not to be called while it runs. @throws StoreError when the store takes no writes now */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, RESULTS_PER_BATCH)
      try {
        await this.#writeAll(batch)
      } catch (thrown) {
        const error = asError(thrown)
        for (const { settle } of batch) settle.reject(error)
        this.#waiting.unshift(...batch)
        throw error
      }
    }
  }

  /** One result that cannot be written must not hold up the others: then each is tried separately. */
  async #writeAll(batch: readonly PendingResult[]): Promise<void> {
    try {
      await this.#write(batch)
      return
    } catch (thrown) {
      if (isPassing(thrown)) throw thrown
    }
    for (const one of batch) {
      try {
        await this.#write([one])
      } catch (thrown) {
        if (isPassing(thrown)) throw thrown
        await this.#giveUp(one, asError(thrown))
      }
    }
  }

  async #write(batch: readonly PendingResult[]): Promise<void> {
    const { store, clock, nodeId, onResults } = this.#options
    const finished = batch.map((one) => one.finished)
    const ids = finished.map(({ probe }) => probe.id)
    const written = await store.write.transaction().execute(async (trx) => {
      // In the order in which the deletion of a site locks them: otherwise the two may wait for each other.
      if (store.isShared)
        await trx.selectFrom('probes').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute()
      const rows = await writeResults(trx, nodeId, finished, clock.now())
      if (rows.length > 0) await onResults(trx, rows)
      return new Set(rows)
    })
    for (const one of batch) one.settle.resolve(written.has(one.finished))
  }

  /** The probe continues with its next run, so that the failure is seen as long as it lasts. */
  async #giveUp({ finished, settle }: PendingResult, error: Error): Promise<void> {
    const { store, clock, nodeId, onError } = this.#options
    const { id, probe_type } = finished.probe
    onError(error, `writing a result of probe ${id} (${probe_type})`)
    settle.reject(error)
    await skipRun(store.write, nodeId, [finished.probe], clock.now())
  }
}
