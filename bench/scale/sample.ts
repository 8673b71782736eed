import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient } from '../../testkit/api.ts'
import { eventBody } from '../../testkit/payloads.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import type { Session } from '../../testkit/processes/session.ts'
import { load } from '../lib/clients.ts'
import type { LoadResult } from '../lib/http-load.ts'
import { processorSeconds } from '../lib/machine.ts'
import type { MeasuredPostgres } from '../lib/postgres.ts'
import { ingestRequest } from '../lib/request-template.ts'

export const CONNECTIONS = 64
const WARMUP_MS = 2_000
/** What the last load left is folded away before the next one is measured. */
export const SETTLE_MS = 3_000

/** Who is sent to, in one row of the result. */
export interface Subject {
  name: string
  servers: readonly [ServerProcess, ...ServerProcess[]]
  keys: Uint8Array
}

/** One load on one subject. */
export interface Sample extends LoadResult {
  /** Processor time a request cost its servers and the database, µs, the folding afterwards included. */
  nodeMicros: number
  databaseMicros: number
  /** Transactions of the database, reads included, and group commits of the nodes, per second of the whole load. */
  transactionsPerSecond: number
  commitsPerSecond: number
}

/** Sends to `subject` and says what that cost. */
export async function sample(
  session: Session,
  postgres: MeasuredPostgres,
  { servers, keys }: Subject,
  measureMs: number,
): Promise<Sample> {
  const [first, ...others] = servers
  const before = await usage(postgres, servers)
  const startedAt = performance.now()
  const result = await load(session, {
    ports: [first.port, ...others.map(({ port }) => port)],
    connections: CONNECTIONS,
    warmupMs: WARMUP_MS,
    measureMs,
    request: ingestRequest(eventBody()),
    keys,
    connectionPerRequest: false,
  })
  const seconds = (performance.now() - startedAt) / 1_000
  await sleep(SETTLE_MS)
  const after = await usage(postgres, servers)
  const perRequest = (used: number) => (used * 1_000_000) / result.answers
  return {
    ...result,
    nodeMicros: perRequest(after.nodes - before.nodes),
    databaseMicros: perRequest(after.database - before.database),
    transactionsPerSecond: (after.transactions - before.transactions) / seconds,
    commitsPerSecond: (after.commits - before.commits) / seconds,
  }
}

async function usage(postgres: MeasuredPostgres, servers: readonly ServerProcess[]) {
  const commits = await Promise.all(servers.map(groupCommits))
  return {
    nodes: servers.reduce((sum, { pid }) => sum + processorSeconds(pid), 0),
    database: postgres.processorSeconds(),
    transactions: await postgres.commits(),
    commits: commits.reduce((sum, count) => sum + count, 0),
  }
}

/** Group commits a server has made; a bare one makes none. */
async function groupCommits({ url }: ServerProcess): Promise<number> {
  const { text } = await apiClient(url).call('GET', '/metrics')
  return Number(/^tagwarden_commits_total (\d+)$/m.exec(text)?.[1] ?? 0)
}
