import { copyFile } from 'node:fs/promises'
import { connectWithoutThread, migrate, openSqliteStore, openStore, sqlitePath } from '../src/store/index.ts'
import { madeOnce } from './made-once.ts'

/**
 * Opens SQLite with its connections in this thread. The program gives each of the seven its own; starting them took half a second of every
 * test on a busy machine, and few tests are about threads. PostgreSQL is opened as usual.
 */
export const openWithoutThreads: typeof openStore = (location, onError, onDeath) =>
  location.databaseUrl === null
    ? openFolderWithoutThreads(location.dataDir, { onDeath })
    : openStore(location, onError, onDeath)

export const openFolderWithoutThreads: typeof openSqliteStore = (dataDir, options) =>
  openSqliteStore(dataDir, { ...options, connect: connectWithoutThread })

/** Copies a migrated database into an empty data folder, which takes 1 ms; migrating takes 50 ms. */
export async function copyTemplate(dataDir: string): Promise<void> {
  const template = await madeOnce('sqlite', async (folder) => {
    const store = await openSqliteStore(folder)
    try {
      await migrate(store.admin, store.columnTypes)
    } finally {
      // Closing moves the write-ahead log into the one file that is copied.
      await store.close()
    }
  })
  await copyFile(sqlitePath(template), sqlitePath(dataDir))
}
