import { sql } from 'kysely'
import { asError, type Clock, DAY, firstIdAt, HOUR, newOrderedId, storable } from '../lib/index.ts'
import {
  chunksOf,
  type DeployMarkerTable,
  isPassing,
  type Kysely,
  type ProbeResultRow,
  type Store,
  type Tables,
  type Transaction,
} from '../store/index.ts'
import { dueAfterRun, nextRunAt } from './claims.ts'
import { type Finished, NO_STREAK } from './result.ts'

const WHILE_NEW_SECONDS = 60

/**
 * Writes results and sets the probes' next runs, in a few statements for any number of them, because ingest cannot commit
 * while the transaction is open. Returns the results written. The others lost their claim meanwhile, because the node was
 * taken for dead or the probe was deleted: the node that has the claim now writes the result.
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

/** Deploy markers kept per site: a sender that keeps naming new versions could add 57,600 a day. */
export const MOST_MARKERS = 10_000

async function forgetOldest(trx: Transaction<Tables>, siteId: string): Promise<void> {
  const ofSite = trx.selectFrom('deploy_markers').select('id').where('site_id', '=', siteId)
  const last = await ofSite.orderBy('id', 'desc').offset(MOST_MARKERS).limit(1).executeTakeFirst()
  if (last === undefined) return
  await trx.deleteFrom('deploy_markers').where('site_id', '=', siteId).where('id', '<=', last.id).execute()
}

/** Two probes may see the same change this far apart: one asks Google every quarter of an hour, the other waits for events. */
const SAME_CHANGE_MS = 6 * HOUR

/** Returns the markers without those that another probe of the site has already written, or writes along with them. */
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
  const isSame = (one: MarkedChange, other: MarkedChange) =>
    one.site_id === other.site_id &&
    one.source === other.source &&
    one.from_version === other.from_version &&
    one.to_version === other.to_version &&
    Math.abs(one.at - other.at) < SAME_CHANGE_MS
  return markers.filter((marker, index) => ![...known, ...markers.slice(0, index)].some((one) => isSame(one, marker)))
}

type MarkedChange = Pick<DeployMarkerTable, 'site_id' | 'source' | 'from_version' | 'to_version' | 'at'>

/** Marks results as found during maintenance. Also changes these objects, which a caller of `runNow` gets. */
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
 * Keeps a `next_run_at` that was set during the run, by a changed interval or a call. Both engines name the columns of VALUES
 * `column1`, `column2`, …; PostgreSQL takes untyped parameters in it for text, hence the casts.
 */
async function moveOn(
  trx: Transaction<Tables>,
  nodeId: string,
  finished: readonly Finished[],
  now: number,
): Promise<Set<string>> {
  const values = finished.map((one) => {
    const { probe, result, consecutiveFailures, memory, recentStatuses, subjectStatuses } = one
    return sql`(${sql.join([
      probe.id,
      probe.claimed_at,
      probe.interval_seconds,
      dueAfterRun(probe, intervalAfter(one, now), now),
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
    ])})`
  })
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

/** People who have just set up a site check every few seconds whether it works: on its first day, intervals are short until something is judged. */
function intervalAfter({ probe, site, result, minIntervalSeconds }: Finished, now: number): number {
  const isNew = result.reason !== null && now - site.created_at < DAY
  const soon = Math.max(WHILE_NEW_SECONDS, minIntervalSeconds)
  return isNew ? Math.min(probe.interval_seconds, soon) : probe.interval_seconds
}

/**
 * Sets the next run of claimed probes that are not to be run before `until` (epoch ms), and releases them.
 *
 * @param isPaused ends streaks, as no one looks during a pause
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
 * Decides what follows from results, in the transaction that writes them: a result and its consequences exist together or not
 * at all. Statements only, because ingest cannot commit meanwhile.
 */
export type ResultHook = (trx: Transaction<Tables>, written: readonly Finished[]) => Promise<void>

interface ResultWriterOptions {
  store: Store
  clock: Clock
  nodeId: string
  onResults: ResultHook
  onError: (error: Error, what: string) => void
}

/** Results per transaction: a few milliseconds of the writer's time. */
const RESULTS_PER_BATCH = 250

interface PendingResult {
  finished: Finished
  /** Called once: with whether the result was written, or why it cannot be. */
  settle: { resolve: (isWritten: boolean) => void; reject: (error: Error) => void }
}

/**
 * Collects the results of runs and writes those of one tick in one transaction. What the store cannot take now waits for the
 * next tick. Its probes stay claimed until then, so there are never more waiting results than probes.
 */
export class ResultWriter {
  readonly #options: ResultWriterOptions
  #waiting: PendingResult[] = []

  constructor(options: ResultWriterOptions) {
    this.#options = options
  }

  /** Ids of the probes with waiting results. */
  get waiting(): string[] {
    return this.#waiting.map(({ finished }) => finished.probe.id)
  }

  /**
   * Resolves to true when the result is on disk, and to false when its claim was lost.
   *
   * @throws StoreError when the store cannot take it now (the next tick retries), or the reason why the result can never be written
   */
  add(finished: Finished): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ finished, settle: { resolve, reject } })
    })
  }

  /**
   * Writes all that waits. Must not run twice at a time.
   * @throws StoreError when the store accepts no writes now
   */
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

  /** If the batch fails for good, writes each result separately, so that a bad one does not hold up the others. */
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
      // In the order in which deleting a site locks them: otherwise the two could deadlock.
      if (store.isShared)
        await trx.selectFrom('probes').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute()
      const rows = await writeResults(trx, nodeId, finished, clock.now())
      if (rows.length > 0) await onResults(trx, rows)
      return new Set(rows)
    })
    for (const one of batch) one.settle.resolve(written.has(one.finished))
  }

  /** Drops the result and schedules the probe's next run, so that the failure is reported as long as it lasts. */
  async #giveUp({ finished, settle }: PendingResult, error: Error): Promise<void> {
    const { store, clock, nodeId, onError } = this.#options
    const { id, probe_type } = finished.probe
    onError(error, `writing a result of probe ${id} (${probe_type})`)
    settle.reject(error)
    await skipRun(store.write, nodeId, [finished.probe], clock.now())
  }
}
