import { sql } from 'kysely'
import type { Store } from '../../store/index.ts'

/** What a PostgreSQL server says of itself and of this database. */
export interface ServerFacts {
  version: string
  encoding: string
  synchronousCommit: string
  fsync: string
  /** Connections that ordinary users get, all together. */
  connections: number
  /** Where new tables go, or null when the role's search path leads nowhere. */
  schema: string | null
  mayCreate: boolean
  /** Version of the extension in this database. */
  citus: string | null
  /** How far our clock is ahead of the server's, ms. */
  skewMs: number
}

/** @throws StoreError */
export async function readFacts({ read }: Store): Promise<ServerFacts> {
  const { rows } = await sql<Omit<ServerFacts, 'skewMs'>>`
    select current_setting('server_version') as version,
      current_setting('server_encoding') as encoding,
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('fsync') as fsync,
      cast(current_setting('max_connections') as integer)
        - cast(current_setting('superuser_reserved_connections') as integer)
        - coalesce(cast(current_setting('reserved_connections', true) as integer), 0) as connections,
      current_schema() as schema,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
      (select extversion from pg_extension where extname = 'citus') as citus`.execute(read)
  const [facts] = rows
  if (facts === undefined) throw new Error('the server said nothing')
  return { ...facts, skewMs: await clockSkew(read) }
}

async function clockSkew(db: Store['read']): Promise<number> {
  const began = Date.now()
  const { rows } = await sql<{ now: number }>`
    select extract(epoch from clock_timestamp()) * 1000 as now`.execute(db)
  return (began + Date.now()) / 2 - (rows[0]?.now ?? 0)
}

/** Where a replica stands. */
export interface ReplicaFacts {
  /** False for a server that takes writes itself. */
  isReplica: boolean
  /** Log that it has not applied yet. */
  behindBytes: number
  /** Age of the newest change it shows, seconds; null when it has seen none. */
  ageSeconds: number | null
}

/** @throws StoreError, also where a provider's replica does not say */
export async function readReplicaFacts({ read, reports }: Store): Promise<ReplicaFacts> {
  const { rows } = await sql<{ isReplica: boolean; position: string | null; age: number | null }>`
    select pg_is_in_recovery() as "isReplica", cast(pg_last_wal_replay_lsn() as text) as position,
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) as age`.execute(reports)
  const { isReplica = false, position = null, age = null } = rows[0] ?? {}
  if (!isReplica || position === null) return { isReplica, behindBytes: 0, ageSeconds: age }
  // Asked second, so that the replica cannot seem to be ahead.
  const behind = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), cast(${position} as pg_lsn)) as bytes`.execute(read)
  return { isReplica, behindBytes: behind.rows[0]?.bytes ?? 0, ageSeconds: age }
}
