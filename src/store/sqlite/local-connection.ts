import { setImmediate } from 'node:timers/promises'
import { asError } from '../../lib/index.ts'
import { StoreError } from '../store.ts'
import { SqliteConnection } from './connection.ts'
import {
  type Connection,
  errorKindOf,
  type QueryAnswer,
  type ThreadOptions,
  type ThreadRequest,
  unpack,
} from './protocol.ts'

/**
 * Opens a connection in this thread, for a caller that fills a store which no one else waits for. Values then need not be copied
 * to another thread, which costs as much as writing them.
 */
export const connectWithoutThread = (options: ThreadOptions): Promise<Connection> => LocalConnection.open(options)

/** A connection without a thread. Like one with a thread, it answers in a later turn of the event loop, and with copies. */
class LocalConnection implements Connection {
  #connection: SqliteConnection | undefined

  private constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  static async open(options: ThreadOptions): Promise<LocalConnection> {
    return new LocalConnection(asStoreError(() => new SqliteConnection(options)))
  }

  async request(request: ThreadRequest): Promise<QueryAnswer> {
    const answered = this.#tryAnswer(request)
    await setImmediate()
    if (answered instanceof Error) throw answered
    return answered
  }

  async close(): Promise<void> {
    if (this.#connection !== undefined) await this.request({ kind: 'close' })
    this.#connection = undefined
  }

  #tryAnswer(request: ThreadRequest): QueryAnswer | Error {
    try {
      if (this.#connection === undefined) throw new StoreError('closed', 'the database is closed')
      const connection = this.#connection
      return unpack(asStoreError(() => connection.answer(request)))
    } catch (thrown) {
      return asError(thrown)
    }
  }
}

function asStoreError<T>(work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    throw new StoreError(errorKindOf(thrown), asError(thrown).message)
  }
}
