import { codeOf } from '../../lib/index.ts'
import { StoreError, type StoreErrorKind } from '../store.ts'

/** read_only_sql_transaction: a primary that has become a standby. */
export const READ_ONLY = '25006'
/** too_many_connections: the server is reachable but full. */
export const TOO_MANY_CONNECTIONS = '53300'

// PostgreSQL's error codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const KIND_BY_STATE: ReadonlyMap<string, StoreErrorKind> = new Map([
  ['23505', 'unique'], // unique_violation
  ['23503', 'foreign_key'], // foreign_key_violation
  ['40P01', 'busy'], // deadlock_detected
  ['40001', 'busy'], // serialization_failure
  ['55P03', 'busy'], // lock_not_available: lock_timeout
  ['57014', 'busy'], // query_canceled: statement_timeout
  ['53100', 'full'], // disk_full
  [TOO_MANY_CONNECTIONS, 'unavailable'],
  [READ_ONLY, 'unavailable'],
  ['57P01', 'unavailable'], // admin_shutdown
  ['57P02', 'unavailable'], // crash_shutdown
  ['57P03', 'unavailable'], // cannot_connect_now
  ['57P04', 'unavailable'], // database_dropped
  ['57P05', 'unavailable'], // idle_session_timeout
  ['25P03', 'unavailable'], // idle_in_transaction_session_timeout
  ['25P04', 'unavailable'], // transaction_timeout
])

/** What to do, where PostgreSQL's message does not say it. */
const HINTS: ReadonlyMap<string, string> = new Map([
  [READ_ONLY, 'the server accepts no writes: it is a standby, or default_transaction_read_only is on'],
])

/** Which limit is reached, by the function of PostgreSQL that says so: its message may be in any language. */
const FULL_LIMITS: ReadonlyMap<string, string> = new Map([
  ['InitializeSessionUserId', 'the connection limit of the role'],
  ['CheckMyDatabase', 'the connection limit of the database'],
])

/** SQLSTATE class 08: connection exceptions. */
const CONNECTION_CLASS = '08'
/** Node's codes of network errors. */
const NETWORK_CODE = /^(ECONN|EPIPE|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|ENOENT)/
/** The driver's own errors have no code. */
const DRIVER_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/

/** Converts any error to a `StoreError`; one that is already stays as it is. */
export function storeErrorOf(thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown
  return new StoreError(kindOf(thrown), messageOf(thrown))
}

function kindOf(thrown: unknown): StoreErrorKind {
  const code = codeOf(thrown)
  const kind = KIND_BY_STATE.get(code)
  if (kind !== undefined) return kind
  if (code.startsWith(CONNECTION_CLASS) || NETWORK_CODE.test(code)) return 'unavailable'
  if (thrown instanceof AggregateError)
    return thrown.errors.some((error) => kindOf(error) === 'unavailable') ? 'unavailable' : 'other'
  return thrown instanceof Error && DRIVER_MESSAGE.test(thrown.message) ? 'unavailable' : 'other'
}

function hintOf(error: Error): string | undefined {
  const code = codeOf(error)
  if (code !== TOO_MANY_CONNECTIONS) return HINTS.get(code)
  const routine = 'routine' in error ? String(error.routine) : ''
  const limit = FULL_LIMITS.get(routine) ?? 'max_connections of PostgreSQL'
  return `no connection is left: raise ${limit}, or lower DATABASE_POOL_SIZE`
}

/** Also handles the AggregateError without a message that a host with several addresses fails with. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const hint = hintOf(thrown)
  if (hint !== undefined) return `${hint} (${thrown.message})`
  if (thrown.message !== '') return thrown.message
  if (thrown instanceof AggregateError) return thrown.errors.map(messageOf).join('; ')
  return codeOf(thrown) || thrown.name
}
