import pg from 'pg'
import { codeOf } from '../../lib/index.ts'
import type { StoreError } from '../store.ts'
import { READ_ONLY, storeErrorOf } from './errors.ts'
import type { Endpoint } from './rotation.ts'
import { storableValue } from './values.ts'

/** The driver's message when no answer came in time. */
const SILENCE = 'Query read timeout'

/** A client that the pool has lent. */
export type LentClient = DatabaseClient & pg.PoolClient

interface QueryOptions {
  /** Longest wait for the answer, ms, when shorter than the pool's. */
  timeoutMs?: number
}

/** A connection of the pool. Its errors are `StoreError`s, and a broken one is not used again. */
export class PooledConnection {
  readonly #client: LentClient
  readonly #rowsPerFetch: number | undefined
  #brokenBy: StoreError | undefined
  #waitsSince: number | undefined
  #fellSilent = false
  #refusedWrite = false

  /** @param rowsPerFetch fetches all rows of a statement at once when left out */
  constructor(client: LentClient, rowsPerFetch?: number) {
    this.#client = client
    this.#rowsPerFetch = rowsPerFetch
    // Catches errors between two statements.
    client.on('error', this.#onError)
  }

  get isBroken(): boolean {
    return this.#brokenBy !== undefined
  }

  get endpoint() {
    return this.#client.endpoint
  }

  /** Its session, or null. */
  get session(): string | null {
    return this.#client.session
  }

  /** Whether it broke because no answer came in time. Its session may still be alive then. */
  get fellSilent(): boolean {
    return this.#fellSilent
  }

  /** Whether it broke because the server accepts no writes. */
  get refusedWrite(): boolean {
    return this.#refusedWrite
  }

  /** Since when a statement has been waiting for its answer or the next portion of it, by `performance.now()`, or undefined. */
  get waitsSince(): number | undefined {
    return this.#waitsSince
  }

  /** Abandons the waiting statement. */
  drop(): void {
    this.#client.drop()
  }

  /** @throws StoreError */
  async query(
    text: string,
    values: readonly unknown[] = [],
    { timeoutMs }: QueryOptions = {},
  ): Promise<pg.QueryResult> {
    if (this.#brokenBy !== undefined) throw this.#brokenBy
    this.#waitsSince = performance.now()
    const config = { text, values: values.map(storableValue) }
    try {
      if (this.#rowsPerFetch !== undefined) {
        return await queryInPortions(this.#client, { ...config, rows: this.#rowsPerFetch }, () => {
          this.#waitsSince = performance.now()
        })
      }
      return await this.#client.query({ ...config, ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }) })
    } catch (thrown) {
      const error = storeErrorOf(thrown)
      if (error.kind === 'unavailable') this.#brokenBy ??= error
      if (error.message === SILENCE) this.#fellSilent = true
      if (codeOf(thrown) === READ_ONLY) this.#refusedWrite = true
      throw error
    } finally {
      this.#waitsSince = undefined
    }
  }

  /** Rolls back the transaction. Never throws: when the connection is gone the server rolls back, and the caller's first error counts. */
  async rollback(): Promise<void> {
    if (this.isBroken) return
    try {
      await this.query('rollback')
    } catch (thrown) {
      this.#brokenBy ??= storeErrorOf(thrown)
    }
  }

  /** Returns it to the pool, or drops it when it broke, as it may be waiting for an answer that never comes. */
  release(): void {
    this.#client.off('error', this.#onError)
    if (this.isBroken) this.#client.drop()
    this.#client.release(this.isBroken)
  }

  readonly #onError = (thrown: Error): void => {
    this.#brokenBy ??= storeErrorOf(thrown)
  }
}

declare module 'pg' {
  interface Query {
    /** Called with an error of the statement. */
    handleError(error: Error, connection: { sync: () => void }): void
    /** Called after each portion but the last. */
    handlePortalSuspended(connection: object): void
  }
}

/** An option of pg that its types lack. */
interface PortionedConfig extends pg.QueryConfig {
  /** Rows fetched at once; pg asks for more until there are none. */
  rows: number
}

/**
 * A statement whose rows come in portions. Each portion is a round trip, in which others get their turn: decoding the rows of two
 * large reports as they arrived held up all requests for 113 ms at a time.
 */
class PortionedQuery extends pg.Query {
  onPortion: () => void = () => undefined

  override handlePortalSuspended(connection: object): void {
    this.onPortion()
    super.handlePortalSuspended(connection)
  }

  /**
   * pg sends a Sync after the last portion but forgets it after an error. The server would wait for it, and the connection's next
   * statement for the server.
   */
  override handleError(error: Error, connection: { sync: () => void }): void {
    connection.sync()
    super.handleError(error, connection)
  }
}

/** @throws the server's error, or the driver's */
function queryInPortions(
  client: pg.ClientBase,
  config: PortionedConfig,
  onPortion: () => void,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const query = new PortionedQuery(config, (error, result) => {
      if (error === undefined || error === null) resolve(result)
      else reject(error)
    })
    query.onPortion = onPortion
    client.query(query)
  })
}

/** A connection of the driver that knows its endpoint and can be dropped. */
export class DatabaseClient extends pg.Client {
  readonly endpoint: Endpoint
  /** When the server started, by its clock: tells servers behind one address apart. Known once the session is prepared. */
  serverStart: string | null = null

  /** @throws Error when the address is invalid, or a certificate that it names cannot be read */
  constructor(endpoint: Endpoint, config: pg.ClientConfig) {
    super({ ...config, connectionString: endpoint.url })
    this.endpoint = endpoint
    // Without a listener, an error between two uses of a pooled connection would end the process.
    this.on('error', () => undefined)
  }

  /** The server's process id of the session, which the driver's types lack, and the server; null before they are known. */
  get session(): string | null {
    const pid = 'processID' in this && typeof this.processID === 'number' ? this.processID : null
    return pid === null || this.serverStart === null ? null : `${pid} ${this.serverStart}`
  }

  /** Closes the socket without a goodbye, which a vanished server would never answer. Pending statements fail. */
  drop(): void {
    this.connection.stream.destroy()
  }
}
