import { newId, newSecret } from '../../src/lib/index.ts'
import { migrate, openSqliteStore } from '../../src/store/index.ts'
import { requestJson } from './management-api.ts'

/** Sites of one client. Limits and usage are kept by client, so all sites under one would be too easy. */
const SITES_PER_CLIENT = 10
const CLIENTS_PER_STATEMENT = 100
const REQUESTS_AT_ONCE = 8

export interface BenchSite {
  id: string
  key: string
}

export interface ClientFields {
  name: string
  plan: 'enterprise'
  requests_per_second?: number
}

/** Creates one client with one site through the API. */
export async function createSite(url: string, client: ClientFields): Promise<BenchSite> {
  const [site] = await createSitesOfClient(url, client, 1)
  if (site === undefined) throw new Error('the site was not created')
  return site
}

/** Creates `count` sites through the API. */
export async function createSites(url: string, count: number): Promise<BenchSite[]> {
  const sizes = clientSizes(count)
  const sites: BenchSite[] = []
  for (let start = 0; start < sizes.length; start += REQUESTS_AT_ONCE) {
    const some = sizes.slice(start, start + REQUESTS_AT_ONCE)
    const created = await Promise.all(
      some.map((size, index) =>
        createSitesOfClient(url, { name: `Client ${start + index}`, plan: 'enterprise' }, size),
      ),
    )
    sites.push(...created.flat())
  }
  return sites
}

/**
 * Writes `count` sites into an empty data folder, for a server to be started on. Through the API the 100,000 sites of one
 * scenario would take longer than the measurement.
 */
export async function importSites(dataDir: string, count: number): Promise<BenchSite[]> {
  const store = await openSqliteStore(dataDir)
  try {
    await migrate(store.write, store.columnTypes)
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
    return clients.flatMap(({ sites }) => sites.map((site) => ({ id: site.id, key: site.ingest_key })))
  } finally {
    await store.close()
  }
}

async function createSitesOfClient(url: string, fields: ClientFields, count: number): Promise<BenchSite[]> {
  const client = await requestJson<{ id: string }>('POST', `${url}/api/clients`, fields)
  const sites: BenchSite[] = []
  for (let index = 0; index < count; index++) {
    const site = await requestJson<{ id: string; ingest_key: string }>('POST', `${url}/api/sites`, {
      client_id: client.id,
      name: `Site ${index}`,
      url: `https://site-${index}.example`,
    })
    sites.push({ id: site.id, key: site.ingest_key })
  }
  return sites
}

/** How many sites each client gets. */
function clientSizes(count: number): number[] {
  const clients = Math.ceil(count / SITES_PER_CLIENT)
  return Array.from({ length: clients }, (_, index) => Math.min(SITES_PER_CLIENT, count - index * SITES_PER_CLIENT))
}
