import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { integrityErrors, type Store, sqlitePath } from '../../src/store/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { copyTemplate, openFolderWithoutThreads } from '../../testkit/sqlite.ts'

/** A database file that has taken no step yet. */
export const makeUnmigrated = (dataDir: string): Promise<void> => withStore(dataDir, async () => undefined)

/** A database that has taken a step which this program does not know. */
export async function makeNewer(dataDir: string): Promise<void> {
  await copyTemplate(dataDir)
  await withStore(dataDir, async (store) => {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(store.write)
  })
}

/** Opens the folder's store for `work`; it is closed when the promise resolves. */
export async function withStore<T>(dataDir: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openFolderWithoutThreads(dataDir)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** A new folder whose database holds one site of this name; `whileOpen` sees it with the service's files beside it. */
export async function folderWithSite(
  t: TestContext,
  name: string,
  whileOpen: (dataDir: string) => Promise<void> = async () => undefined,
): Promise<string> {
  const dataDir = await tempDir(t)
  await copyTemplate(dataDir)
  await withStore(dataDir, async (store) => {
    await insertSite(store, { name })
    await whileOpen(dataDir)
  })
  return dataDir
}

/** The sites that a start on this folder finds. */
export const siteNames = (dataDir: string): Promise<string[]> =>
  withStore(dataDir, async (store) => {
    assert.deepEqual(await integrityErrors(store.read), [])
    const sites = await store.read.selectFrom('sites').select('name').execute()
    return sites.map((site) => site.name)
  })

/** Tears two pages of a database file, which therefore still opens: those of the steps it has taken. */
export async function tearSteps(dataDir: string): Promise<void> {
  const file = await open(sqlitePath(dataDir), 'r+')
  await file.write(Buffer.alloc(2 * PAGE, 0xab), 0, 2 * PAGE, PAGE)
  await file.close()
}

const PAGE = 4_096
