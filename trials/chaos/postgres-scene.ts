import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { createOwnedDatabase } from '../../testkit/postgres/databases.ts'
import type { PostgresServer } from '../../testkit/postgres/server.ts'
import { ServerProcess } from '../../testkit/processes/server-process.ts'
import { until } from '../../testkit/until.ts'
import { type CountedSite, countsOf, countsBySite as countsQuery } from './crowd.ts'
import type { Workshop } from './fault.ts'
import { TcpProxy } from './proxy.ts'
import { Scene, type SceneOptions } from './scene.ts'

export interface PostgresPlace {
  server: PostgresServer
  /** Of its owner, an ordinary role. */
  url: string
  /** Runs one statement in it as superuser, for whom the server always keeps a connection. */
  ask: <Row extends object>(sql: string) => Promise<Row[]>
  /** How many others have a session in it. */
  sessions: () => Promise<number>
  /** Ends all sessions in it, and says how many there were. */
  terminateSessions: () => Promise<number>
}

/** A connection of another program. */
export interface Session {
  query: (sql: string) => Promise<unknown>
  end: () => Promise<void>
}

const OTHERS = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
const COUNT = `select 1 ${OTHERS}`
const TERMINATE = `select pg_terminate_backend(pid) ${OTHERS}`

/** An empty database that the program is to own. */
export async function newPlace({ postgres, closers }: Workshop): Promise<PostgresPlace> {
  const server = await postgres()
  const name = `chaos_${randomBytes(6).toString('hex')}`
  const url = await createOwnedDatabase(server.adminUrl, name)
  const admin = new URL(server.adminUrl)
  admin.pathname = name
  // One connection, as it is asked again and again; a new one where the server was away in between.
  const pool = new pg.Pool({ connectionString: admin.href, application_name: 'chaos', max: 1 })
  pool.on('error', () => undefined)
  closers.add(() => pool.end())
  const ask: PostgresPlace['ask'] = async <Row extends object>(sql: string) => (await pool.query<Row>(sql)).rows
  return {
    server,
    url,
    ask,
    sessions: async () => (await ask(COUNT)).length,
    terminateSessions: async () => (await ask(TERMINATE)).length,
  }
}

/** Waits until a killed program's sessions have finished their statements, and lets others take it for dead at once. */
export async function forgetNode(place: PostgresPlace): Promise<void> {
  await until('its sessions are over', async () => ((await place.sessions()) === 0 ? true : undefined))
  await place.ask('update nodes set seen_at = 0')
}

interface PostgresSceneOptions {
  /** Another way to the database, as through a proxy. */
  url?: string
  others?: SceneOptions['others']
  /** Sites of one more client, see `Crowd`. */
  crowd?: number | undefined
}

/** A service on that database. */
export async function openPostgresScene(
  { closers, newFolder }: Workshop,
  { url: straight, ask }: PostgresPlace,
  { url = straight, others, crowd }: PostgresSceneOptions = {},
): Promise<Scene> {
  const program = await ServerProcess.on(newFolder(), { DATABASE_URL: url })
  closers.add(() => program.kill())
  const countsBySite = async () => countsOf(await ask<CountedSite>(countsQuery('PostgreSQL')))
  return Scene.open({
    program,
    isSettled: () => isSettled(ask),
    usage: () => usage(ask),
    others,
    crowd: crowd === undefined ? undefined : { size: crowd, countsBySite },
  })
}

/** The same with a wire between the program and its database that can be cut. */
export async function openProxiedScene(
  workshop: Workshop,
  place: PostgresPlace,
  others?: SceneOptions['others'],
): Promise<{ proxy: TcpProxy; scene: Scene }> {
  const url = new URL(place.url)
  const proxy = await TcpProxy.to(Number(url.port))
  workshop.closers.add(() => proxy.close())
  url.port = String(proxy.port)
  return { proxy, scene: await openPostgresScene(workshop, place, { url: url.href, others }) }
}

/**
 * Whether the journal is empty and no session is at work. A session whose client is gone or was forgotten may still finish its
 * statement, and add a row.
 */
async function isSettled(ask: PostgresPlace['ask']): Promise<boolean> {
  const [row] = await ask<{ rows: string; busy: string }>(
    `select (select count(*) from journal) as rows, (select count(*) ${OTHERS} and state <> 'idle') as busy`,
  )
  return Number(row?.rows) === 0 && Number(row?.busy) === 0
}

async function usage(ask: PostgresPlace['ask']): Promise<number> {
  const [row] = await ask<{ events: string }>('select coalesce(sum(events), 0) as events from client_usage')
  return Number(row?.events)
}

/** @throws Error when the server accepts no connection */
export async function openSession(url: string): Promise<Session> {
  const client = new pg.Client({ connectionString: url, application_name: 'chaos' })
  // A server that stops, or ends the session, says so on the side.
  client.on('error', () => undefined)
  await client.connect()
  return { query: (sql) => client.query(sql), end: () => client.end() }
}
