import type { UserRecord } from '../../accounts/index.ts'
import type { MaintenanceRecord } from '../../alerts/index.ts'
import type { ClientRecord, SiteRecord, StatusLinkRecord, StatusLooks } from '../../management/index.ts'
import type { OwnChannelRecord } from '../../notifications/index.ts'
import type { ProbeRecord } from '../../probes/index.ts'
import { type Api, forEachOf } from './api.ts'

/** The state of the service. */
export interface PresentProbe {
  record: ProbeRecord
  maintenance: readonly MaintenanceRecord[]
}
export interface PresentSite {
  record: SiteRecord
  probes: readonly PresentProbe[]
  maintenance: readonly MaintenanceRecord[]
}
export interface PresentClient {
  record: ClientRecord
  sites: readonly PresentSite[]
  maintenance: readonly MaintenanceRecord[]
  /** Without the channels that are fields of the client; null when not needed. */
  channels: readonly OwnChannelRecord[] | null
  statusPage: PresentStatusPage | null
}
export interface PresentStatusPage {
  link: StatusLinkRecord
  looks: StatusLooks
}

/** The parts of a client to read; each costs a call. */
export interface Need {
  channels: boolean
  statusPage: boolean
}

/**
 * Reads the state of the service, without maintenance that is over.
 *
 * @param needOf receives the name of a client
 * @param now epoch ms
 * @throws StartupError
 */
export async function readPresent(api: Api, needOf: (name: string) => Need, now: number): Promise<PresentClient[]> {
  // In one call each: with 10,000 sites and 60,000 probes, pages saved no memory, because all of it is kept, and took longer.
  const [clients, sites, probes, maintenance] = await Promise.all([
    api.get<ClientRecord[]>('/api/clients'),
    api.get<SiteRecord[]>('/api/sites'),
    api.get<ProbeRecord[]>('/api/probes'),
    api.list<MaintenanceRecord>('/api/maintenance'),
  ])
  // The API lists the newest first.
  const planned = maintenance.filter((one) => !isOver(one, now)).reverse()
  const ofClient = Map.groupBy(planned, ({ client_id }) => client_id)
  const ofSite = Map.groupBy(planned, ({ site_id }) => site_id)
  const ofProbe = Map.groupBy(planned, ({ probe_id }) => probe_id)
  const probesOf = Map.groupBy(probes, ({ site_id }) => site_id)
  const sitesOf = Map.groupBy(sites, ({ client_id }) => client_id)
  const own = await readOwn(api, clients, needOf)
  return clients.map((record) => ({
    record,
    sites: (sitesOf.get(record.id) ?? []).map((site) => ({
      record: site,
      probes: (probesOf.get(site.id) ?? []).map((probe) => ({
        record: probe,
        maintenance: ofProbe.get(probe.id) ?? [],
      })),
      maintenance: ofSite.get(site.id) ?? [],
    })),
    maintenance: ofClient.get(record.id) ?? [],
    channels: own.get(record.id)?.channels ?? null,
    statusPage: own.get(record.id)?.statusPage ?? null,
  }))
}

/** All people with their roles. */
export const readUsers = (api: Api): Promise<UserRecord[]> => api.get('/api/users')

export const isOver = ({ kind, ends_at }: { kind: string; ends_at: string | null }, now: number): boolean =>
  kind === 'once' && ends_at !== null && Date.parse(ends_at) <= now

type Own = Pick<PresentClient, 'channels' | 'statusPage'>

async function readOwn(
  api: Api,
  clients: readonly ClientRecord[],
  needOf: (name: string) => Need,
): Promise<Map<string, Own>> {
  const found = new Map<string, Own>()
  const asked = clients.filter(({ name }) => needOf(name).channels || needOf(name).statusPage)
  await forEachOf(asked, async ({ id, name }) => {
    const need = needOf(name)
    found.set(id, {
      channels: need.channels ? await readChannels(api, id) : null,
      statusPage: need.statusPage ? await readStatusPage(api, id) : null,
    })
  })
  return found
}

export async function readChannels(api: Api, clientId: string): Promise<OwnChannelRecord[]> {
  const channels = await api.get<OwnChannelRecord[]>(`/api/clients/${clientId}/channels`)
  return channels.filter(({ field }) => field === null)
}

export async function readStatusPage(api: Api, clientId: string): Promise<PresentStatusPage> {
  return {
    link: await api.get<StatusLinkRecord>(`/api/clients/${clientId}/status-link`),
    looks: await api.get<StatusLooks>(`/api/clients/${clientId}/status-page`),
  }
}
