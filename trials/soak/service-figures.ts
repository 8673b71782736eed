import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { residentMemory } from '../../bench/lib/machine.ts'
import { apiClient } from '../../testkit/api.ts'

/** What the service says of itself, and what the system says of it. */
export interface ServiceFigures {
  memoryMb: number
  /** 99th percentile of the event loop's delay since these were last read, ms. */
  loopDelayMs: number
  deliveriesPending: number
  /** Age of the oldest count that reports do not show, s. */
  foldLagSeconds: number
  /** Size of the write-ahead log and of the database, MB. */
  logMb: number
  databaseMb: number
}

/** @param dataDir the embedded store's folder */
export async function readService(server: { pid: number; url: string }, dataDir: string): Promise<ServiceFigures> {
  const { text: metrics } = await apiClient(server.url).call('GET', '/metrics')
  return {
    memoryMb: residentMemory(server.pid).nowMb,
    loopDelayMs: metric(metrics, 'nodejs_eventloop_lag_p99_seconds') * 1_000,
    deliveriesPending: metric(metrics, 'tagwarden_deliveries_pending'),
    foldLagSeconds: metric(metrics, 'tagwarden_fold_lag_seconds'),
    logMb: megabytes(join(dataDir, 'tagwarden.db-wal')),
    databaseMb: megabytes(join(dataDir, 'tagwarden.db')),
  }
}

/** The value of a metric without labels. @throws Error when it is not there */
export function metric(text: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`/metrics has no ${name}`)
  return Number(value)
}

const megabytes = (path: string): number => (existsSync(path) ? statSync(path).size / 1_000_000 : 0)
