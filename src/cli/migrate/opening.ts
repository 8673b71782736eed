import { openStore, type Store, type StoreLocation } from '../../store/index.ts'

/** Opens the store for `work` and closes it after. Says on standard error that it waits for a database which is not there yet. */
export async function withStore<T>(location: StoreLocation, work: (store: Store) => Promise<T>): Promise<T> {
  let printed = ''
  const store = await openStore(location, ({ message }, what) => {
    const line = `${what}: ${message}, trying again`
    if (line !== printed) console.error(line)
    printed = line
  })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
