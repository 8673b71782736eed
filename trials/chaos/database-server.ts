import type { Closers } from '../../src/lib/index.ts'
import { type PostgresServer, startServer } from '../../testkit/postgres/server.ts'

/** Enough for one program, and few enough to take them all in a moment. */
const CONNECTIONS = 40

/** One server for all who ask, started for the first of them and removed with the others of `closers`. */
export function sharedDatabaseServer(closers: Closers): () => Promise<PostgresServer> {
  let server: Promise<PostgresServer> | undefined
  return () => {
    if (server === undefined) {
      const starting = startServer({ durable: true, maxConnections: CONNECTIONS })
      server = starting
      closers.add(async () => (await starting).remove())
    }
    return server
  }
}
