import type { ClientRecord } from '../../api/clients.ts'
import type { ClientState, Status } from '../../api/overview.ts'
import type { SiteRecord } from '../../api/sites.ts'

/** A client in the list, with its sites and the worst of their states. */
export interface ClientRow {
  client: ClientRecord
  sites: readonly SiteRecord[]
  status: Status
}

export function clientRows(
  clients: readonly ClientRecord[],
  sites: readonly SiteRecord[],
  states: readonly ClientState[],
): ClientRow[] {
  const sitesByClient = Map.groupBy(sites, ({ client_id }) => client_id)
  const statusById = new Map(states.map(({ id, status }) => [id, status]))
  return clients.map((client) => ({
    client,
    sites: sitesByClient.get(client.id) ?? [],
    status: statusById.get(client.id) ?? 'unknown',
  }))
}

/** Those whose name, or the name or address of a site, holds the text. */
export function matchingClients(rows: readonly ClientRow[], search: string): ClientRow[] {
  const sought = search.trim().toLowerCase()
  return rows.filter(({ client, sites }) =>
    [client.name, ...sites.flatMap(({ name, url }) => [name, url])].some((text) => text.toLowerCase().includes(sought)),
  )
}
