import { SECOND, StartupError } from '../../lib/index.ts'
import { openPostgresStore, type Store, StoreError } from '../../store/index.ts'
import { postgresName } from '../environment.ts'
import type { DoctorFinding } from './doctor-finding.ts'
import { type ReplicaFacts, readFacts, readReplicaFacts, type ServerFacts } from './postgres-facts.ts'

/** What the checks need; they take few connections from a service that may be running. */
const POOL_SIZE = 4

interface PostgresChecks {
  url: string
  readUrl: string | null
  /** Connections that each process of the service opens at most. */
  poolSize: number
  /** Judges the schema of the store. */
  schemaFinding: (store: Store) => Promise<DoctorFinding>
}

/** Looks at the PostgreSQL server and, when it answers, at its replica. Changes nothing. */
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
      // Without a schema to look in there is none of ours to judge; that is reported below.
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
    // The service does start without its replica, so that is no StartupError: only the reports fail.
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
  [/timeout|ETIMEDOUT/, 'no answer in time: does a firewall stand between?'],
]

function adviceFor(message: string): string {
  const advice = ADVICE.find(([cause]) => cause.test(message))?.[1]
  return advice === undefined ? '' : ` (${advice})`
}

/** Nodes judge by their own clocks which of them live; from here on it is worth a look. */
const MAX_SKEW_MS = 2 * SECOND
/** Reports are expected to show an event within seconds. */
const MAX_AGE_SECONDS = 10
/** The last fixes for 14 came in November 2026. */
const MAINTAINED_MAJOR = 15
/** Beside its pool a process has a connection that listens and, while it migrates, one more. */
const CONNECTIONS_BESIDE_POOL = 2

export const serverFindings = (facts: ServerFacts, poolSize: number): DoctorFinding[] => [
  versionFinding(facts),
  encodingFinding(facts),
  rightsFinding(facts),
  ...durabilityFindings(facts),
  connectionsFinding(facts, poolSize),
  clockFinding(facts),
  citusFinding(facts),
]

function versionFinding({ version }: ServerFacts): DoctorFinding {
  const check = 'version'
  if (Number.parseInt(version, 10) >= MAINTAINED_MAJOR) return { check, level: 'ok', text: version }
  const text = `PostgreSQL ${version} gets no fixes any more: upgrade the server to ${MAINTAINED_MAJOR} or newer`
  return { check, level: 'warning', text }
}

function encodingFinding({ encoding }: ServerFacts): DoctorFinding {
  const check = 'encoding'
  if (encoding === 'UTF8') return { check, level: 'ok', text: 'UTF8' }
  const text = `the database is encoded in ${encoding}, which does not hold every name: create one with encoding 'UTF8'`
  return { check, level: 'failed', text }
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
  return [{ check, level: 'ok', text: `what is answered 200 is on disk (synchronous_commit = ${synchronousCommit})` }]
}

function connectionsFinding({ connections }: ServerFacts, poolSize: number): DoctorFinding {
  const check = 'connections'
  const needed = poolSize + CONNECTIONS_BESIDE_POOL
  const processes = Math.floor(connections / needed)
  if (processes === 0) {
    const text =
      `one process may need ${needed}, the server has ${connections} for all: lower DATABASE_POOL_SIZE=${poolSize}, ` +
      'or raise max_connections'
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
  return { check, level: 'warning', text: `${seconds} s ${direction} ours: see to it that NTP runs on both machines` }
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
      'DATABASE_READ_URL leads to a server that takes writes, and not to a replica: see that it holds the same data, or unset it'
    return { check, level: 'warning', text }
  }
  if (behindBytes === 0) return { check, level: 'ok', text: 'shows everything that is committed' }
  const age = ageSeconds === null ? 'nothing seen yet' : `newest change ${Math.round(ageSeconds)} s old`
  const text = `${Math.ceil(behindBytes / 1_024)} KiB of log behind, ${age}`
  if (ageSeconds !== null && ageSeconds <= MAX_AGE_SECONDS) return { check, level: 'ok', text }
  return { check, level: 'warning', text: `${text}: reports lack what is newer; look at pg_stat_replication` }
}
