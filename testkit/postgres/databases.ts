import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { migrate, openPostgresStore } from '../../src/store/index.ts'
import { until } from '../until.ts'
import { endKeptSessions } from './kept-sessions.ts'
import { type PostgresServer, type ServerOptions, type StopMode, startServer } from './server.ts'

/** An ordinary role, as in production: it owns its database and nothing else. */
const OWNER = 'tagwarden'
const TEMPLATE = 'tagwarden_template'
/** The variable with the address of the maintenance database on the server that all test processes of a run share. */
const SHARED_SERVER = 'TAGWARDEN_TEST_POSTGRES'

export interface TestDatabase {
  url: string
  /** The same as superuser. */
  adminUrl: string
  /** Drops the database and ends its connections. */
  drop: () => Promise<void>
}

/** Creates a database on the shared server, by default migrated. */
export async function createDatabase({ isMigrated = true } = {}): Promise<TestDatabase> {
  const admin = await sharedServer()
  const name = `test_${randomBytes(8).toString('hex')}`
  // Copying files instead of logging pages takes half the time when nothing has to be durable.
  const template = isMigrated ? `template ${TEMPLATE} strategy file_copy` : ''
  await admin.query(`create database ${name} owner ${OWNER} ${template}`)
  const adminUrl = new URL(String(admin.options.connectionString))
  adminUrl.pathname = name
  return {
    url: ownerUrl(adminUrl.href, name),
    adminUrl: adminUrl.href,
    drop: async () => {
      await admin.query(`drop database ${name} with (force)`)
    },
  }
}

/** Starts the server for this process and the test processes that it starts. */
export async function startSharedServer(): Promise<PostgresServer> {
  const server = await startServer({ durable: false })
  try {
    await makeTemplate(server)
  } catch (thrown) {
    await server.remove()
    throw thrown
  }
  process.env[SHARED_SERVER] = server.adminUrl
  return server
}

/** Waits until the sessions of a killed process have finished their statements. */
export async function sessionsOver(url: string): Promise<void> {
  await endKeptSessions(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const others = `select 1 from pg_stat_activity where datname = current_database() and usename = current_user
    and pid <> pg_backend_pid()`
  await until('its sessions are over', async () => ((await client.query(others)).rowCount === 0 ? true : undefined))
  await client.end()
}

export interface OwnPostgres {
  /** An empty database as its owner. */
  url: string
  /** Its server as superuser. */
  adminUrl: string
  stop: (mode: StopMode) => Promise<void>
  start: () => Promise<void>
  /** What the server logged so far. */
  log: () => Promise<string>
}

/** Starts a server for a single test, which may stop or kill it. */
export async function startPostgres(t: TestContext, options: ServerOptions): Promise<OwnPostgres> {
  const server = await startServer(options)
  t.after(server.remove)
  const { adminUrl, stop, start, log } = server
  return { url: await createOwnedDatabase(adminUrl, OWNER), adminUrl, stop, start, log }
}

/** Creates an empty database and its owner, an ordinary role of the same name, and returns the address for that role. */
export async function createOwnedDatabase(adminUrl: string, name: string): Promise<string> {
  await withAdmin(adminUrl, async (admin) => {
    await makeOwner(admin, adminUrl, name)
    await admin.query(`create database ${name} owner ${name}`)
  })
  return ownerUrl(adminUrl, name, name)
}

let shared: Promise<pg.Pool> | undefined

/** The run's server; without one, this process starts a server that ends with it. */
function sharedServer(): Promise<pg.Pool> {
  shared ??= (async () => {
    if (process.env[SHARED_SERVER] === undefined) await startSharedServer()
    return adminPool(process.env[SHARED_SERVER] ?? '')
  })()
  return shared
}

/** Connections that do not keep the process from ending. */
function adminPool(adminUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: adminUrl, max: 2, allowExitOnIdle: true })
  // A server stopped at once may end sessions before the pool does.
  pool.on('error', () => undefined)
  return pool
}

async function withAdmin(adminUrl: string, work: (admin: pg.Pool) => Promise<void>): Promise<void> {
  const admin = adminPool(adminUrl)
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}

/** Uses the superuser's password, which only keeps other users of the machine out. */
const makeOwner = (admin: pg.Pool, adminUrl: string, owner = OWNER): Promise<unknown> =>
  admin.query(`create role ${owner} login password '${new URL(adminUrl).password}'`)

function ownerUrl(adminUrl: string, database: string, owner = OWNER): string {
  const url = new URL(adminUrl)
  url.username = owner
  url.pathname = database
  return url.href
}

/** Migrated once; each test gets a copy. */
async function makeTemplate({ adminUrl }: PostgresServer): Promise<void> {
  await withAdmin(adminUrl, async (admin) => {
    await makeOwner(admin, adminUrl)
    await admin.query(`create database ${TEMPLATE} owner ${OWNER}`)
    const store = await openPostgresStore({
      url: ownerUrl(adminUrl, TEMPLATE),
      readUrl: null,
      poolSize: 4,
      onError: () => undefined,
    })
    try {
      await migrate(store.admin, store.columnTypes)
    } finally {
      await store.close()
    }
    // PostgreSQL copies nothing from a database with open connections.
    await admin.query(`alter database ${TEMPLATE} allow_connections false`)
  })
}
