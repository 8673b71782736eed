import { join } from 'node:path'
import { shareFolder } from './made-once.ts'
import { startSharedServer } from './postgres/databases.ts'
import type { PostgresServer } from './postgres/server.ts'

let server: PostgresServer | undefined

/** Node's test runner calls it before it starts the first test file; those processes inherit this one's environment. */
export async function globalSetup(): Promise<void> {
  server = await startSharedServer()
  shareFolder(server.folder)
  // Every SQLite store that a test opens starts threads, which load our modules: compiled before, in half the time.
  process.env.NODE_COMPILE_CACHE ??= join(server.folder, 'compiled')
}

/** … and this one after the last. */
export async function globalTeardown(): Promise<void> {
  await server?.remove()
}
