import { type Clock, StartupError } from '../../lib/index.ts'
import { type Context, createClient, createSite, updateClient, updateSite } from '../../management/index.ts'
import type { ClientRow, SiteRow, Store } from '../../store/index.ts'
import { chatKeyIn } from './chat.ts'
import type { ClientProfile, SiteProfile } from './profile.ts'
import { TAG_SERVER_HOST } from './tag-server.ts'

/** The actor in the audit log of the demo's clients and sites, by which a later demo recognises them. */
export const ACTOR = 'demo'

export interface DemoSite {
  profile: SiteProfile
  row: SiteRow
}

/**
 * Returns the demo's clients and sites in the store, and creates those that are missing.
 *
 * @param clock gives the time of creation
 * @throws StartupError when the store holds clients and none of them was made by a demo
 */
export async function ensureDemoSites(
  store: Store,
  clock: Clock,
  dataDir: string,
  profiles: readonly SiteProfile[],
): Promise<DemoSite[]> {
  const ctx: Context = { store, clock, actor: ACTOR }
  const clients = await clientsOfDemo(store, dataDir)
  const sites = await madeByDemo(store, 'site', await store.read.selectFrom('sites').selectAll().execute())
  const knownOf = ({ serverContainerId }: SiteProfile) =>
    sites.find((site) => site.tag_manager_server_container_id === serverContainerId)
  const demoSites: DemoSite[] = []
  for (const profile of profiles) {
    const known = knownOf(profile)
    if (known !== undefined) {
      demoSites.push({ profile, row: known })
      continue
    }
    // Someone may have renamed the client: its other sites lead to it.
    const ofClient = profiles.flatMap((other) => (other.client === profile.client ? (knownOf(other) ?? []) : []))
    let client = clients.find(({ id, name }) => id === ofClient[0]?.client_id || name === profile.client.name)
    if (client === undefined) {
      client = await newClient(ctx, profile.client)
      clients.push(client)
    }
    demoSites.push({ profile, row: await newSite(ctx, client.id, profile) })
  }
  return demoSites
}

async function clientsOfDemo(store: Store, dataDir: string): Promise<ClientRow[]> {
  const clients = await store.read.selectFrom('clients').selectAll().execute()
  const ours = await madeByDemo(store, 'client', clients)
  if (clients.length > 0 && ours.length === 0) {
    throw new StartupError(`${dataDir} holds clients that no demo made: give the demo another --data-dir`)
  }
  return ours
}

async function madeByDemo<Row extends { id: string }>(store: Store, entity: string, rows: Row[]): Promise<Row[]> {
  const entries = await store.read
    .selectFrom('audit_log')
    .select('entity_id')
    .where('actor', '=', ACTOR)
    .where('action', '=', `${entity}.create`)
    .execute()
  const ids = new Set(entries.map((entry) => entry.entity_id))
  return rows.filter((row) => ids.has(row.id))
}

const newClient = (ctx: Context, { name, email, plan }: ClientProfile): Promise<ClientRow> =>
  createClient(ctx, plan, { name, email })

/** Creates the site without a `tag_server_url`, which is set once the demo's tag server listens. */
const newSite = (ctx: Context, clientId: string, profile: SiteProfile): Promise<SiteRow> =>
  createSite(ctx, {
    client_id: clientId,
    name: profile.name,
    url: profile.url,
    timezone: profile.timezone,
    tag_manager_web_container_id: profile.webContainerId,
    tag_manager_server_container_id: profile.serverContainerId,
    analytics_measurement_id: profile.measurementId,
    cmp_provider: profile.cmp,
    ...profile.orders,
  })

/** The address of a demo's tag server, as opposed to one that someone gave the site. */
const OWN_TAG_SERVER = new RegExp(`^http://${TAG_SERVER_HOST}:(\\d+)/`)

/** Whether the site's tag server is the demo's. */
export const isLedToDemo = ({ tag_server_url: url }: Pick<SiteRow, 'tag_server_url'>): boolean =>
  url !== null && OWN_TAG_SERVER.test(url)

/** The port of an earlier demo's tag server; null when there was none. */
export function tagServerPortOf(sites: readonly DemoSite[]): number | null {
  const [port] = sites.flatMap(({ row }) => OWN_TAG_SERVER.exec(row.tag_server_url ?? '')?.[1] ?? [])
  return port === undefined ? null : Number(port)
}

/** Points the sites to the demo's tag server. @param base its address, below which each site has its own prefix */
export async function leadToTagServer(ctx: Context, sites: readonly DemoSite[], base: string): Promise<DemoSite[]> {
  const led: DemoSite[] = []
  for (const { profile, row } of sites) {
    const [, name] = new URL(profile.url).host.split('.')
    const isOurs = row.tag_server_url === null || OWN_TAG_SERVER.test(row.tag_server_url)
    led.push({
      profile,
      row: isOurs ? (await updateSite(ctx, row.id, { tag_server_url: `${base}/${name}` })).row : row,
    })
  }
  return led
}

/** The clients of the demo's sites. */
export function clientsOf({ read }: Pick<Store, 'read'>, sites: readonly DemoSite[]): Promise<ClientRow[]> {
  const ids = [...new Set(sites.map(({ row }) => row.client_id))]
  return read.selectFrom('clients').selectAll().where('id', 'in', ids).orderBy('id').execute()
}

/** The key of an earlier demo's chat, kept so that the channel's address stays the same; null when there was none. */
export const chatKeyOf = (clients: readonly ClientRow[]): string | null =>
  clients.map(({ chat_webhook }) => ownChatKey(chat_webhook)).find((key) => key !== null) ?? null

/** Sets the demo's chat for the clients that have no other. */
export async function leadToChat(ctx: Context, clients: readonly ClientRow[], hookUrl: string): Promise<void> {
  for (const { id, chat_webhook } of clients) {
    if (chat_webhook === null || ownChatKey(chat_webhook) !== null) {
      await updateClient(ctx, id, { chat_webhook: hookUrl }, false)
    }
  }
}

const ownChatKey = (address: string | null): string | null =>
  address !== null && OWN_TAG_SERVER.test(address) ? chatKeyIn(address) : null
