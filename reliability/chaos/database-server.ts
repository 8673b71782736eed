import pg from 'pg'
import { type PostgresServer, startServer } from '../../test/support/postgres-server.ts'

/** Enough for one program, and few enough to take them all in a moment. */
const CONNECTIONS = 40

/** Starts a server as in production, but with few connections. The caller removes it. */
export async function startDatabaseServer(): Promise<PostgresServer> {
  const server = await startServer({ durable: true })
  const client = new pg.Client(server.adminUrl)
  await client.connect()
  await client.query(`alter system set max_connections = ${CONNECTIONS}`)
  await client.end()
  await server.stop('fast')
  await server.start()
  return server
}
