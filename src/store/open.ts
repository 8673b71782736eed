import { openPostgresStore } from './postgres/open.ts'
import { keepSqlitePrivate, openSqliteStore } from './sqlite/open.ts'
import type { Store } from './store.ts'

/** Where the data is. */
export interface StoreLocation {
  /** Folder of the embedded database; unused with a `databaseUrl`. */
  dataDir: string
  databaseUrl: string | null
  databaseReadUrl: string | null
  databasePoolSize: number
}

/**
 * Opens the engine that the settings select.
 *
 * @param onDeath called when the store cannot work any more until the process restarts
 * @throws StartupError with one line for the operator
 */
export function openStore(
  location: StoreLocation,
  onError: (error: Error, what: string) => void,
  onDeath?: (error: Error) => void,
): Promise<Store> {
  const { dataDir, databaseUrl, databaseReadUrl, databasePoolSize } = location
  if (databaseUrl === null) return openSqliteStore(dataDir, { onDeath })
  return openPostgresStore({ url: databaseUrl, readUrl: databaseReadUrl, poolSize: databasePoolSize, onError })
}

/** Restricts the embedded database's files to their owner and returns those that were open to others. Does nothing for PostgreSQL. */
export const keepPrivate = ({ dataDir, databaseUrl }: StoreLocation): Promise<string[]> =>
  databaseUrl === null ? keepSqlitePrivate(dataDir) : Promise.resolve([])
