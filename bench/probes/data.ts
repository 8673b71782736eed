import { sql } from 'kysely'
import { newId } from '../../src/lib/index.ts'
import { openSqliteStore } from '../../src/store/index.ts'
import type { ProbeRuns } from './punctuality.ts'

export const INTERVAL_SECONDS = 60
export const INTERVAL_MS = INTERVAL_SECONDS * 1_000
const ROWS_PER_INSERT = 500

/**
 * Gives every site in `dataDir` a tag server and a probe of it that is due at once. With the first run, the program puts each
 * probe on its own grid.
 */
export async function importProbes(dataDir: string, tagServerUrl: string): Promise<void> {
  const store = await openSqliteStore(dataDir)
  try {
    const sites = await store.read.selectFrom('sites').select('id').execute()
    const now = Date.now()
    const probes = sites.map((site) => ({
      id: newId(),
      site_id: site.id,
      probe_type: 'http_health',
      name: 'Tag server health',
      config: '{}',
      interval_seconds: INTERVAL_SECONDS,
      timeout_ms: 10_000,
      failure_threshold: 1,
      recovery_threshold: 1,
      is_active: 1,
      created_at: now,
      next_run_at: now,
      consecutive_failures: 0,
      memory: '{}',
    }))
    await store.write.transaction().execute(async (transaction) => {
      await transaction.updateTable('sites').set({ tag_server_url: tagServerUrl }).execute()
      for (let start = 0; start < probes.length; start += ROWS_PER_INSERT) {
        const some = probes.slice(start, start + ROWS_PER_INSERT)
        await transaction.insertInto('probes').values(some).execute()
      }
    })
  } finally {
    await store.close()
  }
}

/**
 * Passes over the runs that fell due while no server was on `dataDir`, as if one had made them: what is measured is a server
 * that runs on, not one that catches up.
 */
export async function skipMissedRuns(dataDir: string): Promise<void> {
  const store = await openSqliteStore(dataDir)
  try {
    const now = Date.now()
    await sql`
      update probes set next_run_at = ${now} + ${INTERVAL_MS} - (${now} - next_run_at) % ${INTERVAL_MS}
      where next_run_at <= ${now}`.execute(store.write)
  } finally {
    await store.close()
  }
}

export interface RunsInStore {
  probes: ProbeRuns[]
  statuses: Record<string, number>
  /** Runs that needed a second attempt. */
  retried: number
}

/** All runs whose results are in `dataDir`. */
export async function readRuns(dataDir: string): Promise<RunsInStore> {
  const store = await openSqliteStore(dataDir)
  try {
    const probes = await store.read.selectFrom('probes').select(['id', 'next_run_at']).execute()
    const results = await store.read
      .selectFrom('probe_results')
      .select(['probe_id', 'status', 'attempts', 'executed_at'])
      .execute()
    const runs = Map.groupBy(results, (result) => result.probe_id)
    const byStatus = Map.groupBy(results, (result) => result.status)
    return {
      probes: probes.map(({ id, next_run_at }) => ({
        gridTime: next_run_at,
        executedAt: (runs.get(id) ?? []).map((run) => run.executed_at),
      })),
      statuses: Object.fromEntries([...byStatus].map(([status, some]) => [status, some.length])),
      retried: results.filter((result) => result.attempts > 1).length,
    }
  } finally {
    await store.close()
  }
}
