import pg from 'pg'
import type { Closers } from '../../src/lib/index.ts'
import { type PostgresServer, startServer } from '../../testkit/postgres/server.ts'

/** Enough for one program, and few enough to take them all in a moment. */
const CONNECTIONS = 40

/** One server for all who ask, started for the first of them and removed with the others of `closers`. */
export function sharedDatabaseServer(closers: Closers): () => Promise<PostgresServer> {
  let server: Promise<PostgresServer> | undefined
  return () => {
    if (server === undefined) {
      const starting = startDatabaseServer()
      server = starting
      closers.add(async () => (await starting).remove())
    }
    return server
  }
}

/** Starts a server as in production, but with few connections. The caller removes it. */
async function startDatabaseServer(): Promise<PostgresServer> {
  const server = await startServer({ durable: true })
  const client = new pg.Client(server.adminUrl)
  await client.connect()
  await client.query(`alter system set max_connections = ${CONNECTIONS}`)
  await client.end()
  await server.stop('fast')
  await server.start()
  return server
}
