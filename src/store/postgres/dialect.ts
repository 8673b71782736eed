import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely'
import { withTableNames } from '../table-names.ts'
import type { PooledConnection } from './connection.ts'
import type { ConnectionPool } from './pool.ts'

/** All statements of a read transaction see one snapshot, as in SQLite. */
export const BEGIN_READING = 'start transaction isolation level repeatable read read only'
/**
 * Each statement sees what was committed before it, which the locks of folds and roll-ups rely on. Not `read write`: that would
 * write to a former primary that `default_transaction_read_only` keeps from accepting writes.
 */
export const BEGIN_WRITING = 'start transaction isolation level read committed'

/** Kysely over a pool whose errors are `StoreError`s. */
export function poolDialect(pool: ConnectionPool, beginSql: string): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PoolDriver(pool, beginSql),
    createIntrospector: (db) =>
      withTableNames(new PostgresIntrospector(db), async () => {
        // In the schemas that Kysely's own introspector reads: all that this role may use.
        const names = sql<{ name: string; schema: string }>`
          select c.relname as name, n.nspname as schema
          from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
          where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
            and has_schema_privilege(n.nspname, 'USAGE')`
        return (await names.execute(db)).rows
      }),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class PoolDriver implements Driver {
  readonly #pool: ConnectionPool
  readonly #beginSql: string

  constructor(pool: ConnectionPool, beginSql: string) {
    this.#pool = pool
    this.#beginSql = beginSql
  }

  init(): Promise<void> {
    return Promise.resolve()
  }

  async acquireConnection(): Promise<KyselyConnection> {
    return new KyselyConnection(await this.#pool.connect())
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.#beginSql))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof KyselyConnection) await connection.rollback()
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof KyselyConnection) this.#pool.release(connection.pooled)
    return Promise.resolve()
  }

  /** Nothing to do: the store closes its pools itself. */
  destroy(): Promise<void> {
    return Promise.resolve()
  }
}

class KyselyConnection implements DatabaseConnection {
  readonly pooled: PooledConnection

  constructor(pooled: PooledConnection) {
    this.pooled = pooled
  }

  rollback(): Promise<void> {
    return this.pooled.rollback()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, rowCount } = await this.pooled.query(query.sql, query.parameters)
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
  }

  /** Not supported, as on SQLite. */
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('page through the rows instead of streaming them')
  }
}
