import { newId, newSecret } from '../src/lib/index.ts'
import { migrate, openSqliteStore } from '../src/store/index.ts'
import { type ApiClient, apiClient, type SiteKey } from './api.ts'
import { newProbeRow } from './probes.ts'

/** Sites per client. Limits and usage are per client, so a single client would be too easy. */
const SITES_PER_CLIENT = 10
const CLIENTS_PER_STATEMENT = 100
const PROBES_PER_STATEMENT = 500
const REQUESTS_AT_ONCE = 8

/** Creates `count` sites through the API. */
export async function createSites(url: string, count: number): Promise<SiteKey[]> {
  const api = apiClient(url)
  const sizes = clientSizes(count)
  const sites: SiteKey[] = []
  for (let start = 0; start < sizes.length; start += REQUESTS_AT_ONCE) {
    const some = sizes.slice(start, start + REQUESTS_AT_ONCE)
    const created = await Promise.all(
      some.map((size, index) => createSitesOfClient(api, { name: `Client ${start + index}` }, size)),
    )
    sites.push(...created.flat())
  }
  return sites
}

/** Creates one client with one site through the API. */
export async function createSite(url: string, client: object): Promise<SiteKey> {
  const api = apiClient(url)
  return api.newSite(await api.newClient(client))
}

async function createSitesOfClient(api: ApiClient, fields: object, count: number): Promise<SiteKey[]> {
  const client = await api.newClient(fields)
  const sites: SiteKey[] = []
  for (let index = 0; index < count; index++) {
    sites.push(await api.newSite(client, { name: `Site ${index}`, url: `https://site-${index}.example` }))
  }
  return sites
}

/**
 * Writes `count` sites into an empty data folder, before a server is started on it. Creating the 100,000 sites of one scenario through the
 * API would take longer than the measurement.
 */
export async function importSites(dataDir: string, count: number): Promise<SiteKey[]> {
  const store = await openSqliteStore(dataDir)
  try {
    await migrate(store.write, store.columnTypes)
  } finally {
    await store.close()
  }
  return addSites(dataDir, count)
}

/** The same for a folder whose tables were created by a program of this version or an earlier one. */
export async function addSites(dataDir: string, count: number): Promise<SiteKey[]> {
  const store = await openSqliteStore(dataDir)
  try {
    const created_at = Date.now()
    const clients = clientSizes(count).map((size, index) => {
      const client = { id: newId(), name: `Client ${index}`, is_active: 1, plan: 'enterprise', created_at }
      const sites = Array.from({ length: size }, (_, number) => ({
        id: newId(),
        client_id: client.id,
        name: `Site ${index}-${number}`,
        url: `https://site-${index}-${number}.example`,
        ingest_key: newSecret(),
        is_active: 1,
        timezone: 'UTC',
        created_at,
      }))
      return { client, sites }
    })
    await store.write.transaction().execute(async (transaction) => {
      for (let start = 0; start < clients.length; start += CLIENTS_PER_STATEMENT) {
        const some = clients.slice(start, start + CLIENTS_PER_STATEMENT)
        const clientRows = some.map(({ client }) => client)
        const siteRows = some.flatMap(({ sites }) => sites)
        await transaction.insertInto('clients').values(clientRows).execute()
        await transaction.insertInto('sites').values(siteRows).execute()
      }
    })
    return clients.flatMap(({ sites }) => sites)
  } finally {
    await store.close()
  }
}

/** The probe of every site in a data folder. */
export interface ProbePlan {
  intervalSeconds: number
  /** Returns the tag server of the site with this index. */
  targetOf: (index: number) => string
  /** Whether first runs are spread over the interval, as after running for long; else all are due at once. */
  isSpread: boolean
  /** The webhook of all clients. */
  webhook?: string
}

/** Gives every site in `dataDir` a tag server with a probe, before a server is started on it. */
export async function importProbes(dataDir: string, plan: ProbePlan): Promise<void> {
  const { intervalSeconds, targetOf, isSpread, webhook } = plan
  const store = await openSqliteStore(dataDir)
  try {
    const sites = await store.read.selectFrom('sites').select('id').orderBy('site_no').execute()
    const now = Date.now()
    const probes = sites.map(({ id }, index) =>
      newProbeRow(id, {
        id: newId(),
        probe_type: 'http_health',
        name: 'Tag server health',
        interval_seconds: intervalSeconds,
        created_at: now,
        next_run_at: now + (isSpread ? Math.floor((index * intervalSeconds * 1_000) / sites.length) : 0),
      }),
    )
    await store.write.transaction().execute(async (transaction) => {
      if (webhook !== undefined) await transaction.updateTable('clients').set({ chat_webhook: webhook }).execute()
      for (const [index, { id }] of sites.entries()) {
        await transaction
          .updateTable('sites')
          .set({ tag_server_url: targetOf(index) })
          .where('id', '=', id)
          .execute()
      }
      for (let start = 0; start < probes.length; start += PROBES_PER_STATEMENT) {
        await transaction
          .insertInto('probes')
          .values(probes.slice(start, start + PROBES_PER_STATEMENT))
          .execute()
      }
    })
  } finally {
    await store.close()
  }
}

/** The number of sites of each client. */
function clientSizes(count: number): number[] {
  const clients = Math.ceil(count / SITES_PER_CLIENT)
  return Array.from({ length: clients }, (_, index) => Math.min(SITES_PER_CLIENT, count - index * SITES_PER_CLIENT))
}
