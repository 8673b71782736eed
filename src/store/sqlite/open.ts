import { chmod, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Kysely } from 'kysely'
import { asError, Loop, Mutex, StartupError, systemClock } from '../../lib/index.ts'
import type { ColumnTypes } from '../migrations/index.ts'
import type { SqlValue } from '../store.ts'
import { type BatchOperation, ChangeFeed, type Store, StoreError } from '../store.ts'
import type { Tables } from '../tables.ts'
import { Checkpoints } from './checkpoints.ts'
import { type SharedThread, threadDialect } from './dialect.ts'
import { FileInPlace } from './file-in-place.ts'
import { makeFolder, makePrivateFile, PRIVATE, SIDE_FILES } from './files.ts'
import { LateConnection } from './late-connection.ts'
import type { Connection, ThreadBatchOperation, ThreadOptions } from './protocol.ts'
import { ConnectionThread } from './thread.ts'

const sqliteTypes: ColumnTypes = {
  integer: 'integer',
  // SQLite turns a sum past 64 bits into a float automatically.
  counter: 'integer',
  json: 'text',
  identity: 'integer primary key autoincrement',
  clustered: 'without rowid',
  ephemeral: '',
  uncompressed: () => [],
}

/** Readers for the service itself: two, so that one slow read does not block the next. */
const READERS = 2
/** Readers for reports that people wait for; as many run at once. A statement under way cannot be interrupted. */
const ASKED_READERS = 3
const CHECKPOINT_INTERVAL_MS = 1_000
/** How long the service's own reads wait for the open reader before a second one opens, ms. Nearly all reads take less. */
const PATIENCE_MS = 100

/** The path of the database file in `dataDir`; `openSqliteStore` creates the file. */
export const sqlitePath = (dataDir: string): string => join(dataDir, 'tagwarden.db')

/** The file whose lock shows other processes that one has the database. */
export const lockPath = (dataDir: string): string => join(dataDir, 'tagwarden.lock')

export interface SqliteOptions {
  /** Called when one of its threads died: the store no longer works, and only a new process can help. */
  onDeath?: ((error: Error) => void) | undefined
  /** Opens one connection; by default in a thread of its own. */
  connect?: (options: ThreadOptions) => Promise<Connection>
}

/**
 * Opens the embedded store in `dataDir`, which is created if missing: one writer thread for all writes in turn, reader threads
 * for reports, and under load a thread that moves the write-ahead log into the database.
 *
 * @throws StartupError when another process has the folder, or it cannot be used
 */
export async function openSqliteStore(dataDir: string, options: SqliteOptions = {}): Promise<Store> {
  const { onDeath = () => undefined } = options
  const { connect = (thread: ThreadOptions) => ConnectionThread.open(thread, onDeath) } = options
  const path = sqlitePath(dataDir)
  const lock = lockPath(dataDir)
  const open = (mode: ThreadOptions['mode']) => connect({ path, mode, lockPath: lock, givesWay: mode === 'reader' })
  const threads: Connection[] = []
  try {
    await makeFolder(resolve(dataDir))
    await makePrivateFile(path)
    await makePrivateFile(lock)
    // The writer first: it takes the lock and creates the file that the others open.
    threads.push(await open('writer'))
    const reader = await open('reader')
    const late = (length: number) => Array.from({ length }, () => new LateConnection(() => open('reader')))
    const checkpointer = new LateConnection(() => open('checkpointer'))
    threads.push(checkpointer, reader, ...late(READERS - 1 + ASKED_READERS))
  } catch (thrown) {
    await Promise.all(threads.map((thread) => thread.close()))
    throw startupError(dataDir, thrown)
  }
  return sqliteStore(threads, await FileInPlace.of(path))
}

function sqliteStore(threads: readonly Connection[], file: FileInPlace): Store {
  const [writerThread, checkpointer, ...readerThreads] = threads
  if (writerThread === undefined || checkpointer === undefined) throw new Error('threads are missing')
  const share = (thread: Connection): SharedThread => ({ thread, turn: new Mutex() })
  const writer = share(file.guard(writerThread))
  const write = new Kysely<Tables>({ dialect: threadDialect([writer], 'begin immediate') })
  const reading = (readers: readonly Connection[], patienceMs?: number) =>
    new Kysely<Tables>({ dialect: threadDialect(readers.map(share), 'begin', patienceMs) })
  const read = reading(readerThreads.slice(0, READERS), PATIENCE_MS)

  const log = new Checkpoints(writer, checkpointer)
  const checkpoints = new Loop({
    name: 'checkpoint',
    clock: systemClock,
    intervalMs: CHECKPOINT_INTERVAL_MS,
    tick: async () => {
      await file.look()
      await log.tick()
    },
    onError: () => undefined, // A disk that fails here fails the commits too, and those are reported.
  })
  checkpoints.start()

  return {
    engine: 'sqlite',
    columnTypes: sqliteTypes,
    isShared: false,
    write,
    read,
    reports: read,
    interactive: reading(readerThreads.slice(READERS)),
    admin: write,
    changes: new ChangeFeed(),
    // The lock keeps other processes out, so there are no other changes.
    followChanges: () => Promise.resolve(),
    batch: (operations, { isRepeatable = false } = {}) =>
      writer.turn.run(async () => {
        await writer.thread.request({ kind: 'batch', operations: operations.map(threadOperation), isRepeatable })
      }),
    async close() {
      await checkpoints.stop()
      // The Kysely instances stay open: later queries then get `closed` from the threads instead of Kysely's own error.
      const release = await writer.turn.acquire()
      await Promise.all([...readerThreads, checkpointer].map((thread) => thread.close()))
      // Last: closing the last connection folds the write-ahead log into the database file.
      await writer.thread.close()
      release()
    },
  }
}

function threadOperation(operation: BatchOperation): ThreadBatchOperation {
  if (operation.kind === 'upsert') return operation
  const { query, expectChanges } = operation
  const statement = { kind: 'statement', sql: query.sql, parameters: query.parameters as readonly SqlValue[] } as const
  return expectChanges === undefined ? statement : { ...statement, expectChanges }
}

function startupError(dataDir: string, thrown: unknown): StartupError {
  if (thrown instanceof StoreError && thrown.kind === 'busy') {
    return new StartupError(
      `DATA_DIR ${dataDir} is in use by another Tagwarden process: stop that one, or give this one a DATA_DIR of its own`,
    )
  }
  return new StartupError(`DATA_DIR ${dataDir} cannot be used: ${asError(thrown).message}`)
}

const OTHERS = 0o077

/**
 * Restricts the database's files in `dataDir` to their owner: an earlier version, or a copy by hand, let every user of the
 * machine read the ingest keys in them. Files of another owner stay as they are, as do files on a file system without modes.
 *
 * @returns the files that others could read or write until now
 */
export async function keepSqlitePrivate(dataDir: string): Promise<string[]> {
  const path = sqlitePath(dataDir)
  const files = [path, ...SIDE_FILES.map((suffix) => path + suffix), lockPath(dataDir)]
  const closed: string[] = []
  for (const file of files) if (await close(file)) closed.push(file)
  return closed
}

/** Returns whether the file was open to others and no longer is. */
async function close(file: string): Promise<boolean> {
  try {
    const { mode, uid } = await stat(file)
    if ((mode & OTHERS) === 0 || uid !== (process.getuid?.() ?? uid)) return false
    await chmod(file, PRIVATE)
    // Windows and mounts without modes report success and change nothing.
    return ((await stat(file)).mode & OTHERS) === 0
  } catch {
    // Missing, or on a file system without modes: it works as before, and `doctor` reports who may read it.
    return false
  }
}
