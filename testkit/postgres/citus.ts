import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { distributeTables, migrate, openPostgresStore, type Store } from '../../src/store/index.ts'
import type { TestDatabase } from './databases.ts'

/** A database on the coordinator of a Citus cluster, as superuser. Tests do not write to it, but create their own. */
const COORDINATOR = process.env.TEST_CITUS_URL

interface ClusterNode {
  host: string
  port: number
  isCoordinator: boolean
  holdsShards: boolean
}

/** Declares a test on a real cluster, if there is one: unlike PostgreSQL, Citus is not on npm. */
export function testOnCitus(title: string, body: (store: Store) => Promise<void>): void {
  if (COORDINATOR === undefined) return
  test(`${title} (Citus)`, async (t) => {
    const { url, drop } = await createCitusDatabase({ isDistributed: false })
    const store = await open(url)
    t.after(() => store.close())
    t.after(drop)
    await body(store)
  })
}

/** Creates a migrated database on every node of the cluster, by default with distributed tables. */
async function createCitusDatabase({ isDistributed = true } = {}): Promise<TestDatabase> {
  const nodes = await clusterNodes()
  const name = `test_${randomBytes(8).toString('hex')}`
  for (const node of nodes) {
    await onNode(node, undefined, [`create database ${name}`])
    await onNode(node, name, ['create extension citus'])
  }
  const coordinators = nodes.filter((node) => node.isCoordinator)
  for (const coordinator of coordinators) await onNode(coordinator, name, registrations(nodes, name))
  const url = withDatabase(COORDINATOR ?? '', name)
  const store = await open(url)
  try {
    await migrate(store.admin, store.columnTypes)
    if (isDistributed) await distributeTables(store.admin)
  } finally {
    await store.close()
  }
  return {
    url,
    adminUrl: url,
    drop: async () => {
      // Drop it on the coordinator first, because it connects to the others.
      for (const node of nodes) await onNode(node, undefined, [`drop database ${name} with (force)`])
    },
  }
}

const open = (url: string): Promise<Store> =>
  openPostgresStore({ url, readUrl: null, poolSize: 4, onError: () => undefined })

function registrations(nodes: readonly ClusterNode[], database: string): string[] {
  return [
    // More shards would only slow the tests down.
    `alter database ${database} set citus.shard_count = 4`,
    ...nodes.map(({ host, port, isCoordinator }) =>
      isCoordinator
        ? `select citus_set_coordinator_host('${host}', ${port})`
        : `select citus_add_node('${host}', ${port})`,
    ),
    ...nodes.map(
      ({ host, port, holdsShards }) =>
        `select citus_set_node_property('${host}', ${port}, 'shouldhaveshards', ${holdsShards})`,
    ),
  ]
}

/** The coordinator first. */
async function clusterNodes(): Promise<ClusterNode[]> {
  return connected(COORDINATOR ?? '', async (client) => {
    const { rows } = await client.query<ClusterNode>(
      `select nodename as host, nodeport as port, groupid = 0 as "isCoordinator", shouldhaveshards as "holdsShards"
       from pg_dist_node where noderole = 'primary' order by groupid`,
    )
    return rows
  })
}

async function onNode(node: ClusterNode, database: string | undefined, statements: readonly string[]): Promise<void> {
  const url = new URL(COORDINATOR ?? '')
  url.hostname = node.host
  url.port = String(node.port)
  await connected(database === undefined ? url.href : withDatabase(url.href, database), async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function withDatabase(address: string, database: string): string {
  const url = new URL(address)
  url.pathname = database
  return url.href
}
