import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { startServer } from '../../testkit/postgres/server.ts'
import { processorSeconds, processorSecondsWithEnded } from './machine.ts'

/** A PostgreSQL with its own settings for safety: a commit waits for the disk. */
export interface MeasuredPostgres {
  url: string
  version: string
  /** Transactions committed so far, reading ones included. */
  commits(): Promise<number>
  /** Processor time used so far by all its processes, s. */
  processorSeconds(): number
  stop(): Promise<void>
}

/** @param core the core all its processes are to run on; null for any */
export async function startMeasuredPostgres(core: number | null): Promise<MeasuredPostgres> {
  const server = await startServer({ durable: true })
  const admin = new pg.Client(server.adminUrl)
  await admin.connect()
  const { rows } = await admin.query<{ pid: number; server_version: string }>(
    "select pg_backend_pid() as pid, current_setting('server_version') as server_version",
  )
  const postmaster = parentOf(Number(rows[0]?.pid))
  if (core !== null) execFileSync('taskset', ['-a', '-c', '-p', String(core), String(postmaster)])
  return {
    url: server.adminUrl,
    version: rows[0]?.server_version ?? '',
    async commits() {
      const { rows: counts } = await admin.query<{ commits: string }>(
        'select sum(xact_commit) as commits from pg_stat_database',
      )
      return Number(counts[0]?.commits)
    },
    processorSeconds: () =>
      childrenOf(postmaster).reduce(
        (sum, pid) => sum + (processorSeconds(pid) || 0),
        processorSecondsWithEnded(postmaster),
      ),
    async stop() {
      await admin.end()
      await server.remove()
    },
  }
}

/** The fields of `/proc/<pid>/stat` behind the command, which may itself hold blanks; the second is the parent. */
function parentOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      return parentOf(pid) === parent
    } catch {
      return false // It has ended since the folder was read.
    }
  })
}
