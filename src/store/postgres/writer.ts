import { type BatchOperation, StoreError } from '../store.ts'
import { columnsOf, type UpsertSpec } from '../upsert.ts'
import type { PooledConnection } from './connection.ts'
import { BEGIN_WRITING } from './dialect.ts'
import type { ConnectionPool } from './pool.ts'
import { upsertColumns } from './upsert-rows.ts'
import { upsertSql } from './upsert-sql.ts'
import { numbersLiteral, storableValue } from './values.ts'

interface Upsert {
  sql: string
  isText: readonly boolean[]
}

/** Runs batches. */
export class BatchWriter {
  readonly #pool: ConnectionPool
  readonly #commitTimeoutMs: number
  readonly #upserts = new Map<UpsertSpec, Upsert>()

  /** @param commitTimeoutMs longest wait for a batch of one statement */
  constructor(pool: ConnectionPool, commitTimeoutMs: number) {
    this.#pool = pool
    this.#commitTimeoutMs = commitTimeoutMs
  }

  /** @throws StoreError, and then nothing of the batch was kept (unless it is `unavailable`: then nobody knows) */
  async run(operations: readonly BatchOperation[]): Promise<void> {
    const [only] = operations
    await this.#pool.use(async (connection) => {
      if (operations.length === 1 && only?.kind === 'statement' && only.expectChanges === undefined) {
        // A statement by itself is a transaction: one trip instead of three.
        await connection.query(only.query.sql, only.query.parameters, { timeoutMs: this.#commitTimeoutMs })
        return
      }
      await connection.query(BEGIN_WRITING)
      try {
        for (const operation of operations) await this.#perform(connection, operation)
        await connection.query('commit')
      } catch (thrown) {
        await connection.rollback()
        throw thrown
      }
    })
  }

  async #perform(connection: PooledConnection, operation: BatchOperation): Promise<void> {
    if (operation.kind === 'upsert') {
      await this.#upsert(connection, operation.spec, operation.values)
      return
    }
    const { query, expectChanges } = operation
    const { rowCount } = await connection.query(query.sql, query.parameters)
    if (expectChanges !== undefined && rowCount !== expectChanges) {
      throw new StoreError(
        'unexpected_changes',
        `${rowCount} rows changed where ${expectChanges} were expected: ${query.sql}`,
      )
    }
  }

  async #upsert(
    connection: PooledConnection,
    spec: UpsertSpec,
    values: Extract<BatchOperation, { kind: 'upsert' }>['values'],
  ): Promise<void> {
    if (values.length === 0) return
    const { sql, isText } = this.#upserts.get(spec) ?? (await this.#prepare(connection, spec))
    // Before rows with the same key are merged: two texts may become one.
    const columns = upsertColumns(spec, values.map(storableValue)).map((column, index) =>
      isText[index] === true ? column : numbersLiteral(column),
    )
    await connection.query(sql, columns)
  }

  async #prepare(connection: PooledConnection, spec: UpsertSpec): Promise<Upsert> {
    const { rows } = await connection.query(
      `select attname as name, format_type(atttypid, null) as type from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [spec.table],
    )
    const typeOf = new Map(rows.map(({ name, type }) => [String(name), String(type)]))
    const types = columnsOf(spec).map((column) => {
      const type = typeOf.get(column)
      if (type === undefined) throw new StoreError('other', `${spec.table} has no column ${column}`)
      return type
    })
    const upsert = { sql: upsertSql(spec, types), isText: types.map((type) => type === 'text') }
    this.#upserts.set(spec, upsert)
    return upsert
  }
}
