import { sql } from 'kysely'
import { SECOND, StartupError } from '../../lib/index.ts'
import { openPostgresStore, SHARED_SESSIONS, type Store, StoreError, sharesSessions } from '../../store/index.ts'
import { postgresName } from '../options.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** Connections of the checks: few, because the service may be running and needs the rest. */
const POOL_SIZE = 4

interface PostgresChecks {
  url: string
  readUrl: string | null
  /** Maximum number of connections that each process of the service opens. */
  poolSize: number
  /** Checks the schema of the store. */
  schemaFinding: (store: Store) => Promise<DoctorFinding>
}

/** Checks the PostgreSQL server and, when it answers, its replica. Changes nothing. */
export async function postgresFindings({
  url,
  readUrl,
  poolSize,
  schemaFinding,
}: PostgresChecks): Promise<DoctorFinding[]> {
  const check = 'PostgreSQL'
  const findings = await withStore(url, null, check, async (store) => {
    const facts = await readFacts(store)
    return [
      { check, level: 'ok', text: `${postgresName(url)} answers, version ${facts.version}` },
      // Without any schema there are no tables to check; `rightsFinding` reports that.
      ...(facts.schema === null ? [] : [await schemaFinding(store)]),
      ...serverFindings(facts, poolSize),
    ]
  })
  if (readUrl === null || findings[0]?.level === 'failed') return findings
  const replica = await withStore(url, readUrl, 'replica', async (store) => [
    replicaFinding(await readReplicaFacts(store)),
  ])
  return [...findings, ...replica]
}

async function withStore(
  url: string,
  readUrl: string | null,
  check: string,
  work: (store: Store) => Promise<DoctorFinding[]>,
): Promise<DoctorFinding[]> {
  try {
    const store = await openPostgresStore({
      url,
      readUrl,
      poolSize: POOL_SIZE,
      onError: () => undefined,
      patienceMs: 0,
    })
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  } catch (thrown) {
    if (!(thrown instanceof StartupError || thrown instanceof StoreError)) throw thrown
    // A replica's error is no StartupError, because the service starts without its replica and only reports fail.
    const setting = readUrl === null ? 'DATABASE_URL' : 'DATABASE_READ_URL'
    const message = thrown instanceof StartupError ? thrown.message : `${setting} cannot be used: ${thrown.message}`
    return [{ check, level: 'failed', text: `${message}${adviceFor(message)}` }]
  }
}

const ADVICE: readonly [cause: RegExp, advice: string][] = [
  [/ECONNREFUSED/, 'nothing listens there: is the server running, and is the port right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name cannot be looked up: is it right?'],
  [/password authentication|no pg_hba\.conf entry/, 'check user, password and the pg_hba.conf of the server'],
  [/does not support SSL/, 'the server has no TLS: leave sslmode out'],
  [/database "[^"]*" does not exist/, "create it: create database … encoding 'UTF8'"],
  [/timeout|ETIMEDOUT/, 'no answer in time: is there a firewall in between?'],
]

function adviceFor(message: string): string {
  const advice = ADVICE.find(([cause]) => cause.test(message))?.[1]
  return advice === undefined ? '' : ` (${advice})`
}

/** Worth a warning from here on, because nodes judge by their clocks which of them are alive. */
const MAX_SKEW_MS = 2 * SECOND
/** Maximum lag of a replica: people expect reports to show an event within seconds. */
const MAX_AGE_SECONDS = 10
/** PostgreSQL 14 got its last fixes in November 2026. */
const MAINTAINED_MAJOR = 15
/** Besides its pool, a process has one connection that listens and, while it migrates, another one. */
const CONNECTIONS_BESIDE_POOL = 2

export const serverFindings = (facts: ServerFacts, poolSize: number): DoctorFinding[] => [
  versionFinding(facts),
  encodingFinding(facts),
  rightsFinding(facts),
  ...durabilityFindings(facts),
  ...(facts.autovacuum === 'off' ? [AUTOVACUUM_OFF] : []),
  ...(facts.sharesSessions ? [SHARED_SESSIONS_FINDING] : []),
  connectionsFinding(facts, poolSize),
  clockFinding(facts),
  citusFinding(facts),
]

function versionFinding({ version }: ServerFacts): DoctorFinding {
  const check = 'version'
  if (Number.parseInt(version, 10) >= MAINTAINED_MAJOR) return { check, level: 'ok', text: version }
  const text = `PostgreSQL ${version} no longer gets fixes: upgrade the server to ${MAINTAINED_MAJOR} or newer`
  return { check, level: 'warning', text }
}

function encodingFinding({ encoding }: ServerFacts): DoctorFinding {
  const check = 'encoding'
  if (encoding === 'UTF8') return { check, level: 'ok', text: 'UTF8' }
  // Only SQL_ASCII comes this far: a database in another encoding is refused when it is opened.
  const text = `the database is encoded in ${encoding}, which checks no text: prefer one with encoding 'UTF8'`
  return { check, level: 'warning', text }
}

function rightsFinding({ schema, mayCreate }: ServerFacts): DoctorFinding {
  const check = 'rights'
  if (schema === null) {
    return { check, level: 'failed', text: 'no schema of the search_path exists: create one, or set search_path' }
  }
  if (mayCreate) return { check, level: 'ok', text: `may create tables in schema ${schema}` }
  const text = `may not create tables in schema ${schema}: grant create on schema ${schema}, or make this role the owner`
  return { check, level: 'failed', text }
}

function durabilityFindings({ fsync, synchronousCommit }: ServerFacts): DoctorFinding[] {
  const check = 'durability'
  const lost = (name: string): DoctorFinding => ({
    check,
    level: 'warning',
    text: `${name} is off: acknowledged counts may be lost when the server crashes; set ${name} = on`,
  })
  const findings = [
    ...(fsync === 'off' ? [lost('fsync')] : []),
    ...(synchronousCommit === 'off' ? [lost('synchronous_commit')] : []),
  ]
  if (findings.length > 0) return findings
  return [
    { check, level: 'ok', text: `what is answered with 200 is on disk (synchronous_commit = ${synchronousCommit})` },
  ]
}

const AUTOVACUUM_OFF: DoctorFinding = {
  check: 'autovacuum',
  level: 'warning',
  text: 'autovacuum is off: the remains of deleted rows stay, so tables grow and all work slows down; set autovacuum = on',
}

const SHARED_SESSIONS_FINDING: DoctorFinding = {
  check: 'sessions',
  level: 'failed',
  text: `DATABASE_URL ${SHARED_SESSIONS}`,
}

function connectionsFinding({ connections }: ServerFacts, poolSize: number): DoctorFinding {
  const check = 'connections'
  const needed = poolSize + CONNECTIONS_BESIDE_POOL
  const processes = Math.floor(connections / needed)
  if (processes === 0) {
    const text =
      `one process may need ${needed}, the server allows ${connections} in all: lower DATABASE_POOL_SIZE=${poolSize}, ` +
      'or raise the lowest of max_connections and the connection limits of the role and the database'
    return { check, level: 'warning', text }
  }
  const text = `${connections} in all, up to ${needed} for each process: enough for ${processes} of them`
  return { check, level: 'ok', text }
}

function clockFinding({ skewMs }: ServerFacts): DoctorFinding {
  const check = 'server-clock'
  const seconds = (Math.abs(skewMs) / SECOND).toFixed(1)
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return { check, level: 'ok', text: `within ${seconds} s of ours` }
  const direction = skewMs > 0 ? 'behind' : 'ahead of'
  return { check, level: 'warning', text: `${seconds} s ${direction} ours: make sure that NTP runs on both machines` }
}

const citusFinding = ({ citus }: ServerFacts): DoctorFinding => ({
  check: 'Citus',
  level: 'ok',
  text: citus === null ? 'not in this database: all data is on this server' : `version ${citus}`,
})

export function replicaFinding({ isReplica, behindBytes, ageSeconds }: ReplicaFacts): DoctorFinding {
  const check = 'replica'
  if (!isReplica) {
    const text =
      'DATABASE_READ_URL points to a server that accepts writes, not to a replica: make sure that it holds the same data, or unset it'
    return { check, level: 'warning', text }
  }
  if (behindBytes === 0) return { check, level: 'ok', text: 'shows everything that is committed' }
  const age = ageSeconds === null ? 'nothing seen yet' : `newest change ${Math.round(ageSeconds)} s old`
  const text = `${Math.ceil(behindBytes / 1_024)} KiB of log behind, ${age}`
  if (ageSeconds !== null && ageSeconds <= MAX_AGE_SECONDS) return { check, level: 'ok', text }
  return { check, level: 'warning', text: `${text}: reports lack what is newer; look at pg_stat_replication` }
}

/** What a PostgreSQL server reports about itself and this database. */
export interface ServerFacts {
  version: string
  encoding: string
  synchronousCommit: string
  fsync: string
  autovacuum: string
  /** Connections that the server, this role and this database allow to ordinary users, for all together. */
  connections: number
  /** The schema for new tables; null when no schema of the role's `search_path` exists. */
  schema: string | null
  mayCreate: boolean
  /** Version of the Citus extension in this database; null without it. */
  citus: string | null
  /** How far our clock is ahead of the server's, ms. */
  skewMs: number
  /** Whether a pooler gives one session to several connections. */
  sharesSessions: boolean
}

/** @throws StoreError */
async function readFacts(store: Store): Promise<ServerFacts> {
  const { read } = store
  const { rows } = await sql<Omit<ServerFacts, 'skewMs' | 'sharesSessions'>>`
    select current_setting('server_version') as version,
      current_setting('server_encoding') as encoding,
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('fsync') as fsync,
      current_setting('autovacuum') as autovacuum,
      least(
        cast(current_setting('max_connections') as integer)
          - cast(current_setting('superuser_reserved_connections') as integer)
          - coalesce(cast(current_setting('reserved_connections', true) as integer), 0),
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
      ) as connections,
      current_schema() as schema,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
      (select extversion from pg_extension where extname = 'citus') as citus`.execute(read)
  const [facts] = rows
  if (facts === undefined) throw new Error('the server gave no reason')
  return { ...facts, skewMs: await clockSkew(read), sharesSessions: await sharesSessions(store) }
}

async function clockSkew(db: Store['read']): Promise<number> {
  const began = Date.now()
  const { rows } = await sql<{ now: number }>`
    select extract(epoch from clock_timestamp()) * 1000 as now`.execute(db)
  return (began + Date.now()) / 2 - (rows[0]?.now ?? 0)
}

/** What a replica reports about itself. */
export interface ReplicaFacts {
  /** False for a server that accepts writes itself. */
  isReplica: boolean
  /** Size of the log that it has not applied yet. */
  behindBytes: number
  /** Age of the newest change it shows, seconds; null when it has seen none. */
  ageSeconds: number | null
}

/** @throws StoreError, also when a provider's replica does not report its position */
async function readReplicaFacts({ read, reports }: Store): Promise<ReplicaFacts> {
  const { rows } = await sql<{ isReplica: boolean; position: string | null; age: number | null }>`
    select pg_is_in_recovery() as "isReplica", cast(pg_last_wal_replay_lsn() as text) as position,
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) as age`.execute(reports)
  const { isReplica = false, position = null, age = null } = rows[0] ?? {}
  if (!isReplica || position === null) return { isReplica, behindBytes: 0, ageSeconds: age }
  // Read the primary's position second, so that the replica cannot appear to be ahead.
  const behind = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), cast(${position} as pg_lsn)) as bytes`.execute(read)
  return { isReplica, behindBytes: behind.rows[0]?.bytes ?? 0, ageSeconds: age }
}
