import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { Mutex } from '../../lib/index.ts'
import type { SqlValue } from '../store.ts'
import { withTableNames } from '../table-names.ts'
import type { Connection } from './protocol.ts'

/** A thread and the mutex whose holder may use it: a transaction holds it from `begin` to its end. */
export interface SharedThread {
  thread: Connection
  turn: Mutex
}

/** Corrects what Kysely's adapter assumes about SQLite. */
class ThreadAdapter extends SqliteAdapter {
  /** SQLite can roll back schema changes; otherwise Kysely would migrate without a transaction. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }

  /** Each thread has its own connection; otherwise Kysely would run one query at a time, however many threads there are. */
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/**
 * Kysely over connection threads: each query goes to the first free one.
 *
 * @param patienceMs how long a query waits for an open thread before another one opens for it
 */
export function threadDialect(threads: readonly SharedThread[], beginSql: string, patienceMs = 0): Dialect {
  return {
    createAdapter: () => new ThreadAdapter(),
    createDriver: () => new ThreadDriver(threads, beginSql, patienceMs),
    createIntrospector: (db) =>
      withTableNames(new SqliteIntrospector(db), async () => {
        const names = sql<{ name: string }>`select name from sqlite_master where type = 'table'`
        return (await names.execute(db)).rows
      }),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class ThreadDriver implements Driver {
  readonly #free: SharedThread[]
  readonly #waiting: ((shared: SharedThread) => void)[] = []
  readonly #beginSql: string
  readonly #patienceMs: number

  constructor(threads: readonly SharedThread[], beginSql: string, patienceMs: number) {
    this.#free = [...threads]
    this.#beginSql = beginSql
    this.#patienceMs = patienceMs
  }

  init(): Promise<void> {
    return Promise.resolve()
  }

  async acquireConnection(): Promise<ThreadConnection> {
    const shared = await this.#take()
    const giveBackTurn = await shared.turn.acquire()
    return new ThreadConnection(shared.thread, () => {
      giveBackTurn()
      this.#release(shared)
    })
  }

  async #take(): Promise<SharedThread> {
    // One that could not be opened may lie above an open one.
    const open = this.#free.findLastIndex(({ thread }) => thread.isUnopened !== true)
    const at = open === -1 && this.#patienceMs === 0 ? this.#free.length - 1 : open
    const shared = this.#free[at]
    if (shared !== undefined) {
      this.#free.splice(at, 1)
      return shared
    }
    const { promise, resolve } = Promise.withResolvers<SharedThread>()
    this.#waiting.push(resolve)
    if (this.#free.length > 0) setTimeout(() => this.#openFor(resolve), this.#patienceMs)
    return promise
  }

  /** Ends a wait with a thread that is not open yet, if there still is one. */
  #openFor(waiting: (shared: SharedThread) => void): void {
    const at = this.#waiting.indexOf(waiting)
    if (at === -1) return
    const shared = this.#free.pop()
    if (shared === undefined) return
    this.#waiting.splice(at, 1)
    waiting(shared)
  }

  #release(shared: SharedThread): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(shared)
    else next(shared)
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.#beginSql))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof ThreadConnection) await connection.rollback()
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof ThreadConnection) connection.release()
    return Promise.resolve()
  }

  /** Nothing to do: the store closes its threads itself. */
  destroy(): Promise<void> {
    return Promise.resolve()
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #thread: Connection
  readonly release: () => void

  constructor(thread: Connection, release: () => void) {
    this.#thread = thread
    this.release = release
  }

  async rollback(): Promise<void> {
    await this.#thread.request({ kind: 'rollback' })
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.#thread.request({
      kind: 'query',
      sql: query.sql,
      parameters: query.parameters as readonly SqlValue[],
    })
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }

  /** Not supported: a thread sends an answer as a whole. Page through the rows instead. */
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('SQLite answers queries as a whole; page through the rows instead')
  }
}
