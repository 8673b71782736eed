import { join } from 'node:path'
import { shareFolder } from './made-once.ts'
import { startSharedServer } from './postgres/databases.ts'
import type { PostgresServer } from './postgres/server.ts'

let server: PostgresServer | undefined

/** Node's test runner calls it before the first test file; test processes inherit this environment. */
export async function globalSetup(): Promise<void> {
  server = await startSharedServer()
  shareFolder(server.folder)
  // Every SQLite store with threads loads our modules in each thread, which a compile cache makes twice as fast.
  process.env.NODE_COMPILE_CACHE ??= join(server.folder, 'compiled')
}

/** … and this one after the last. */
export async function globalTeardown(): Promise<void> {
  await server?.remove()
}
