import { copyFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { asError } from '../src/lib/index.ts'
import { migrate, openSqliteStore, openStore, StoreError, sqlitePath } from '../src/store/index.ts'
import { SqliteConnection } from '../src/store/sqlite/connection.ts'
import type { Connection, QueryAnswer, ThreadOptions, ThreadRequest } from '../src/store/sqlite/protocol.ts'
import { errorKindOf, unpack } from '../src/store/sqlite/protocol.ts'
import { madeOnce } from './made-once.ts'

/**
 * The embedded store with its connections in this process. The program gives each of the seven a thread; starting them took
 * half a second of every test on a busy machine, and few tests are about threads. PostgreSQL is opened as always.
 */
export const openWithoutThreads: typeof openStore = (location, onError, onDeath) =>
  location.databaseUrl === null
    ? openFolderWithoutThreads(location.dataDir, { onDeath })
    : openStore(location, onError, onDeath)

export const openFolderWithoutThreads: typeof openSqliteStore = (dataDir, options) =>
  openSqliteStore(dataDir, { ...options, connect: connectWithoutThread })

export const connectWithoutThread = (thread: ThreadOptions): Promise<Connection> => LocalConnection.open(thread)

/** A connection without a thread. It answers in a later turn of the event loop, and with copies, as a thread does. */
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

/** Gives an empty data folder a migrated database: a copy takes a millisecond, the migrations take fifty. */
export async function copyTemplate(dataDir: string): Promise<void> {
  const template = await madeOnce('sqlite', async (folder) => {
    const store = await openSqliteStore(folder)
    try {
      await migrate(store.admin, store.columnTypes)
    } finally {
      // Which moves the write-ahead log into the one file that is copied.
      await store.close()
    }
  })
  await copyFile(sqlitePath(template), sqlitePath(dataDir))
}
