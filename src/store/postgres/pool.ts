import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { codeOf } from '../../lib/index.ts'
import { StoreError } from '../store.ts'
import { DatabaseClient, type LentClient, PooledConnection } from './connection.ts'
import { storeErrorOf, TOO_MANY_CONNECTIONS } from './errors.ts'
import type { Endpoint, Rotation } from './rotation.ts'
import { typeParsers } from './values.ts'

const IDLE_TIMEOUT_MS = 30_000
/** After this long idle in a transaction the server ends the session, ms: a hung process must not keep its locks from other nodes. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000
/** After this much silence TCP keepalive checks the other side, ms; the system's default is two hours. */
const KEEP_ALIVE_DELAY_MS = 10_000
/** How long closing waits for pending work before it cuts the connections, ms. */
const CLOSE_GRACE_MS = 2_000

/** Before a server that lets no more connections in is asked again, ms. */
const FULL_PAUSE_MS = 50

/** pg-pool's message when all its connections are in use. */
const NONE_CAME_FREE = 'timeout exceeded when trying to connect'

export interface PoolOptions {
  rotation: Rotation
  size: number
  /** Longest time that a statement may run, ms; 0 for no limit. */
  statementTimeoutMs: number
  /** How long the driver waits after the server's limit before it takes the connection for dead, ms. */
  silenceMarginMs: number
  /** Longest time for making a connection, ms. */
  connectTimeoutMs: number
  /** Longest wait for a connection while all are in use, ms; not less than `connectTimeoutMs`. */
  waitTimeoutMs: number
  /** Whether a server that accepts no writes will do. */
  mayBeReadOnly: boolean
  /** Rows of a statement fetched at once; all when left out. */
  rowsPerFetch?: number
}

/** Connections to a database's current host, made on demand and reused. */
export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #config: pg.ClientConfig
  readonly #pool: pg.Pool
  readonly #clients = new Set<pg.Client>()
  readonly #lent = new Set<PooledConnection>()
  /** Sessions whose connections were dropped for their silence. */
  readonly abandoned = new Set<string>()
  #isClosed = false
  /** Callers waiting for a connection. */
  #waiting = 0
  #onNoneWaiting: () => void = () => undefined

  constructor(options: PoolOptions) {
    this.#options = options
    const { rotation, connectTimeoutMs, statementTimeoutMs, silenceMarginMs } = options
    const config = {
      application_name: 'tagwarden',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      types: typeParsers,
      connectionTimeoutMillis: connectTimeoutMs,
      ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + silenceMarginMs }),
    }
    this.#config = config
    this.#pool = new pg.Pool({
      max: options.size,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      connectionTimeoutMillis: options.waitTimeoutMs,
      // The pool would give every client the same address, but the host is only known when one connects.
      Client: class extends DatabaseClient {
        constructor() {
          super(rotation.current, config)
        }
      },
      onConnect: (client) => prepareSession(client, options),
    })
    this.#pool.on('connect', (client) => this.#clients.add(client))
    this.#pool.on('remove', (client) => this.#clients.delete(client))
    // A broken idle connection leaves the pool automatically; the next query gets a new one.
    this.#pool.on('error', () => undefined)
  }

  /** @throws StoreError: `unavailable` when no host can be reached or no connection came free, or `closed` */
  async connect(): Promise<PooledConnection> {
    if (this.#isClosed) throw closed()
    this.#waiting++
    try {
      const connection = await this.#connect()
      this.#lent.add(connection)
      return connection
    } finally {
      if (--this.#waiting === 0) this.#onNoneWaiting()
    }
  }

  async #connect(): Promise<PooledConnection> {
    const { rotation, waitTimeoutMs, rowsPerFetch } = this.#options
    for (let tries = rotation.length; ; tries--) {
      const endpoint = rotation.current
      try {
        return new PooledConnection(await this.#trustedClient(), rowsPerFetch)
      } catch (thrown) {
        if (this.#isClosed) throw closed()
        const error = storeErrorOf(thrown)
        if (error.message === NONE_CAME_FREE) {
          throw new StoreError(error.kind, `all connections were in use for ${waitTimeoutMs} ms`)
        }
        this.#cannotConnect(endpoint, thrown)
        if (tries <= 1 || rotation.current === endpoint) throw error
      }
    }
  }

  /** Runs `work` with a connection. Errors of the database are `StoreError`s. */
  async use<T>(work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    const connection = await this.connect()
    try {
      return await work(connection)
    } finally {
      this.release(connection)
    }
  }

  /** Connections to the current host whose statement has had no answer for `ms`. */
  silentFor(ms: number): { session: string; drop: () => void }[] {
    const since = performance.now() - ms
    return [...this.#lent].flatMap((connection) => {
      const { session, waitsSince, endpoint } = connection
      const isHere = endpoint.url === this.#options.rotation.current.url
      if (session === null || !isHere || waitsSince === undefined || waitsSince > since) return []
      return [{ session, drop: () => connection.drop() }]
    })
  }

  release(connection: PooledConnection): void {
    this.#lent.delete(connection)
    const { rotation } = this.#options
    if (connection.refusedWrite) rotation.refusedWrite(connection.endpoint)
    else if (connection.isBroken) rotation.broke(connection.endpoint)
    if (connection.fellSilent && connection.session !== null) this.abandoned.add(connection.session)
    connection.release()
  }

  /** Opens a connection outside the pool; the caller has to end it. @throws StoreError */
  async connectApart(): Promise<DatabaseClient> {
    const { rotation } = this.#options
    const endpoint = rotation.current
    try {
      const client = new DatabaseClient(endpoint, this.#config)
      await client.connect()
      await prepareSession(client, this.#options)
      return client
    } catch (thrown) {
      this.#cannotConnect(endpoint, thrown)
      throw storeErrorOf(thrown)
    }
  }

  /** Waits for pending work, up to `CLOSE_GRACE_MS`. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const isOver = Promise.withResolvers<void>()
    const grace = setTimeout(isOver.resolve, CLOSE_GRACE_MS)
    await Promise.race([this.#end(), isOver.promise])
    clearTimeout(grace)
    // Also those closed politely: a vanished server would not answer, and the process could not end.
    this.#dropAll()
  }

  async #end(): Promise<void> {
    const { promise: isDrained, resolve } = Promise.withResolvers<void>()
    this.#onNoneWaiting = resolve
    // pg-pool forgets callers that wait for a connection when it ends.
    if (this.#waiting > 0) await isDrained
    await this.#pool.end()
  }

  #cannotConnect(endpoint: Endpoint, thrown: unknown): void {
    // The server is reachable but full: another host would not help.
    if (codeOf(thrown) !== TOO_MANY_CONNECTIONS) this.#options.rotation.failed(endpoint)
  }

  #dropAll(): void {
    for (const client of this.#clients) if (client instanceof DatabaseClient) client.drop()
  }

  async #trustedClient(): Promise<LentClient> {
    for (;;) {
      const client = await this.#ownClient()
      if (!(client instanceof DatabaseClient)) throw new Error('the pool lends what it did not make')
      if (client.endpoint === this.#options.rotation.current) return client
      client.drop()
      client.release(true)
    }
  }

  /** A new connection, or one that comes free: when the server lets no more in, those that are open do the work. */
  async #ownClient(): Promise<pg.PoolClient> {
    const until = performance.now() + this.#options.waitTimeoutMs
    for (;;) {
      try {
        return await this.#pool.connect()
      } catch (thrown) {
        const mayWait = codeOf(thrown) === TOO_MANY_CONNECTIONS && this.#clients.size > 0 && !this.#isClosed
        if (!mayWait || performance.now() > until) throw thrown
      }
      await delay(FULL_PAUSE_MS)
    }
  }
}

const closed = () => new StoreError('closed', 'the database is closed')

/**
 * Sets the session's time limits, and refuses a server that accepts no writes if another host may. The limits are set explicitly,
 * because a role or a database may have its own, and by a statement, because poolers such as PgBouncer refuse them as start-up
 * parameters.
 */
async function prepareSession(client: pg.ClientBase, options: PoolOptions): Promise<void> {
  const { statementTimeoutMs, connectTimeoutMs, mayBeReadOnly, rotation } = options
  const query = {
    text: `select set_config('statement_timeout', $1, false),
      set_config('idle_in_transaction_session_timeout', $2, false),
      ${NO_OTHER_LIMITS},
      ${SERVER_START} as server_start,
      current_setting('transaction_read_only') as read_only`,
    values: [String(statementTimeoutMs), String(IDLE_IN_TRANSACTION_TIMEOUT_MS)],
    query_timeout: connectTimeoutMs,
  }
  // First, because a standby answers no query of a serializable transaction.
  const isolation = {
    text: 'set session characteristics as transaction isolation level read committed',
    query_timeout: connectTimeoutMs,
  }
  await client.query(isolation)
  const { rows } = await client.query<{ read_only: string; server_start: string }>(query)
  if (client instanceof DatabaseClient) client.serverStart = rows[0]?.server_start ?? null
  if (mayBeReadOnly) return
  if (rows[0]?.read_only === 'off') rotation.takesWrites()
  else if (rotation.length > 1) throw new StoreError('unavailable', 'the server accepts no writes')
}

/** As `DatabaseClient` keeps it. */
export const SERVER_START = 'extract(epoch from pg_postmaster_start_time())::text'

/**
 * An administrator may have set these for all sessions: migrations wait for each other longer than a `lock_timeout` and take longer
 * than a `transaction_timeout` (of PostgreSQL 17 and newer), and the connection that listens is always idle.
 */
const NO_OTHER_LIMITS = `set_config('lock_timeout', '0', false),
      set_config('idle_session_timeout', '0', false),
      case when current_setting('transaction_timeout', true) is not null then set_config('transaction_timeout', '0', false) end`
