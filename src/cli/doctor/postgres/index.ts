import { StartupError } from '../../../lib/index.ts'
import { openPostgresStore, type Store, StoreError } from '../../../store/index.ts'
import { postgresName } from '../../store-name.ts'
import type { DoctorFinding } from '../doctor-finding.ts'
import { readFacts, readReplicaFacts } from './facts.ts'
import { replicaFinding, serverFindings } from './findings.ts'

/** What the checks need; they take few connections from a service that may be running. */
const POOL_SIZE = 4

export interface PostgresChecks {
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
