import { sql } from 'kysely'
import { migrate, openSqliteStore, type Store } from '../../src/store/index.ts'

/** A database file that has taken no step yet. */
export const makeUnmigrated = (dataDir: string): Promise<void> => withStore(dataDir, async () => undefined)

/** A database that has taken a step which this program does not know. */
export const makeNewer = (dataDir: string): Promise<void> =>
  withStore(dataDir, async (store) => {
    await migrate(store.write, store.columnTypes)
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(store.write)
  })

/** Opens the folder's store for `work`; it is closed when the promise resolves. */
export async function withStore<T>(dataDir: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore(dataDir)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
