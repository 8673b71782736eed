import { type BatchOperation, type BatchOptions, columnsOf, StoreError, type UpsertSpec } from '../store.ts'
import type { PooledConnection } from './connection.ts'
import { BEGIN_WRITING } from './dialect.ts'
import type { ConnectionPool } from './pool.ts'
import { numbersLiteral, storableValue, upsertColumns, upsertSql } from './values.ts'

/** Rows per statement, which has a time limit and is built on the main thread: these take the server some 20 ms and us a few. */
const ROWS_PER_STATEMENT = 1_000

interface Upsert {
  sql: string
  isText: readonly boolean[]
}

/** A connection during one batch, with the batch's deadline. */
class Session {
  readonly #connection: PooledConnection
  readonly #end: number | undefined

  /** @param end by `performance.now()`; a statement that takes longer breaks the connection */
  constructor(connection: PooledConnection, end: number | undefined) {
    this.#connection = connection
    this.#end = end
  }

  /** @throws StoreError */
  query(sql: string, parameters: readonly unknown[] = []) {
    if (this.#end === undefined) return this.#connection.query(sql, parameters)
    const timeoutMs = Math.max(1, Math.ceil(this.#end - performance.now()))
    return this.#connection.query(sql, parameters, { timeoutMs })
  }
}

/** Runs batches. */
export class BatchWriter {
  readonly #pool: ConnectionPool
  readonly #commitTimeoutMs: number
  readonly #upserts = new Map<UpsertSpec, Upsert>()

  /** @param commitTimeoutMs longest time for an urgent batch, ms */
  constructor(pool: ConnectionPool, commitTimeoutMs: number) {
    this.#pool = pool
    this.#commitTimeoutMs = commitTimeoutMs
  }

  /** @throws StoreError: nothing of the batch was kept, except that with `unavailable` this is unknown */
  async run(operations: readonly BatchOperation[], { isUrgent = false }: BatchOptions = {}): Promise<void> {
    // Includes the wait for a connection and all statements.
    const end = isUrgent ? performance.now() + this.#commitTimeoutMs : undefined
    const [only] = operations
    await this.#pool.use(async (connection) => {
      const session = new Session(connection, end)
      if (operations.length === 1 && only?.kind === 'statement' && only.expectChanges === undefined) {
        // A single statement is its own transaction: one round trip instead of three.
        await session.query(only.query.sql, only.query.parameters)
        return
      }
      try {
        await session.query(BEGIN_WRITING)
        for (const operation of operations) await this.#perform(session, operation)
        await session.query('commit')
      } catch (thrown) {
        await connection.rollback()
        throw thrown
      }
    })
  }

  async #perform(session: Session, operation: BatchOperation): Promise<void> {
    if (operation.kind === 'upsert') {
      await this.#upsert(session, operation.spec, operation.values)
      return
    }
    const { query, expectChanges } = operation
    const { rowCount } = await session.query(query.sql, query.parameters)
    if (expectChanges !== undefined && rowCount !== expectChanges) {
      throw new StoreError(
        'unexpected_changes',
        `${rowCount} rows changed where ${expectChanges} were expected: ${query.sql}`,
      )
    }
  }

  async #upsert(
    session: Session,
    spec: UpsertSpec,
    values: Extract<BatchOperation, { kind: 'upsert' }>['values'],
  ): Promise<void> {
    if (values.length === 0) return
    const { sql, isText } = this.#upserts.get(spec) ?? (await this.#prepare(session, spec))
    // Before rows with the same key are merged, because two texts may become the same.
    const columns = upsertColumns(spec, values.map(storableValue))
    const rows = columns[0]?.length ?? 0
    for (let start = 0; start < rows; start += ROWS_PER_STATEMENT) {
      const slice = columns.map((column, index) => {
        const part = column.slice(start, start + ROWS_PER_STATEMENT)
        return isText[index] === true ? part : numbersLiteral(part)
      })
      await session.query(sql, slice)
    }
  }

  async #prepare(session: Session, spec: UpsertSpec): Promise<Upsert> {
    const { rows } = await session.query(
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
    const upsert = { sql: upsertSql(spec, types), isText: types.map((type) => type === 'text' || type === 'jsonb') }
    this.#upserts.set(spec, upsert)
    return upsert
  }
}
