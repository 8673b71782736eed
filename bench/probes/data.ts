import { sql } from 'kysely'
import { openSqliteStore } from '../../src/store/index.ts'
import type { ProbeRuns } from './punctuality.ts'

export const INTERVAL_SECONDS = 60
export const INTERVAL_MS = INTERVAL_SECONDS * 1_000

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
