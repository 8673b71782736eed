import { Kysely } from 'kysely'
import { Mutex } from '../../lib/index.ts'
import type { Tables } from '../tables.ts'
import { threadDialect } from './dialect.ts'
import { ConnectionThread } from './thread.ts'

/**
 * Opens a database file read-only, even if other processes have it open, and closes it after `work`. It lives in a thread of its
 * own: a long statement keeps neither signals nor a progress bar waiting.
 *
 * @throws StoreError when the file cannot be opened
 */
export async function withDatabaseFile<T>(path: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const thread = await ConnectionThread.open({ path, mode: 'reader', lockPath: '' })
  try {
    return await work(new Kysely({ dialect: threadDialect([{ thread, turn: new Mutex() }], 'begin') }))
  } finally {
    await thread.close()
  }
}
