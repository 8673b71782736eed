import type { Config } from '../../config.ts'
import { StartupError } from '../../lib/index.ts'
import {
  exists,
  hasUnfinishedCopy,
  integrityErrors,
  migrationState,
  openSqliteStore,
  type Store,
  StoreError,
  sqlitePath,
} from '../../store/index.ts'
import { whyUnreachable } from '../post.ts'
import type { DoctorFinding } from './doctor-finding.ts'
import { localAddress } from './network.ts'

const READY_TIMEOUT_MS = 5_000
const CHECK = 'store'
const INTEGRITY = 'integrity'

/** Checks the store, or asks the service that has it open. Changes nothing. */
export async function storeFindings({ dataDir, host, port }: Config): Promise<DoctorFinding[]> {
  try {
    if (!exists(sqlitePath(dataDir))) {
      return [{ check: CHECK, level: 'ok', text: 'no database yet: the first start creates it' }]
    }
    const store = await openSqliteStore(dataDir)
    try {
      return [await schemaFinding(store), await integrityFinding(store)]
    } catch (thrown) {
      if (!(thrown instanceof StoreError)) throw thrown
      return [damaged(thrown.message)]
    } finally {
      await store.close()
    }
  } catch (thrown) {
    if (!(thrown instanceof StartupError)) throw thrown
    // A running service holds the lock of the database: ask it instead.
    return [await readyFinding(localAddress(host, port), thrown.message)]
  }
}

export async function schemaFinding(store: Store): Promise<DoctorFinding> {
  if (store.isShared && (await hasUnfinishedCopy(store.read))) {
    const text =
      'it holds an unfinished copy: run "tagwarden migrate --from …" again until it ends, and do not start a service'
    return { check: CHECK, level: 'failed', text }
  }
  const { pending, unknown } = await migrationState(store.read)
  if (unknown.length > 0) {
    const text = `the database is newer than this version (${unknown.join(', ')}): start a newer Tagwarden on it`
    return { check: CHECK, level: 'failed', text }
  }
  if (pending.length > 0) {
    const text = `migrations pending: ${pending.join(', ')}; the next start applies them, or "tagwarden migrate"`
    return { check: CHECK, level: 'warning', text }
  }
  return { check: CHECK, level: 'ok', text: 'the schema is up to date' }
}

async function integrityFinding(store: Store): Promise<DoctorFinding> {
  const [first, ...others] = await integrityErrors(store.read)
  if (first === undefined) return { check: INTEGRITY, level: 'ok', text: 'the database file is sound' }
  return damaged(`${first}${others.length > 0 ? ` and ${others.length} more` : ''}`)
}

const damaged = (how: string): DoctorFinding => ({
  check: INTEGRITY,
  level: 'failed',
  text: `${how.replaceAll('\n', ' ')}: the database file is damaged, restore it from a backup`,
})

async function readyFinding(service: string, whyNotOpened: string): Promise<DoctorFinding> {
  const refused = (text: string): DoctorFinding => ({
    check: CHECK,
    level: 'failed',
    text: `${whyNotOpened} (${text})`,
  })
  try {
    const response = await fetch(`${service}/ready`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) })
    const state = await response.text()
    if (response.status !== 200) return refused(`and ${service}/ready answers ${response.status}: ${state}`)
    return { check: CHECK, level: 'ok', text: `in use by the running service: ${service}/ready says it is well` }
  } catch (thrown) {
    return refused(`and ${service}/ready does not answer: ${whyUnreachable(thrown)}`)
  }
}
