import { type ApiClient, apiClient, bearer, type SiteKey } from '../../testkit/api.ts'

/** The address that everything here points to: nothing listens, and no attack leaves this machine. */
const NOBODY = 'http://127.0.0.1:9/'

/** From an address that no attack comes from, because failed sign-ins make their address wait. */
const OWN_ADDRESS = '192.0.2.1'

/** A caller that is no attacker. @param token its key; null where no key is needed */
export const goodCaller = (url: string, token: string | null): ApiClient =>
  apiClient(url, { 'x-forwarded-for': OWN_ADDRESS, ...(token === null ? {} : bearer(token)) })

/** A client with as many sites, whose limits nothing reaches. */
export async function newSites(api: ApiClient, name: string, count: number): Promise<SiteKey[]> {
  const client = await api.newClient({ name })
  const sites: SiteKey[] = []
  for (let index = 0; index < count; index++) {
    sites.push(await api.newSite(client, { name: `${name} ${index}`, url: NOBODY }))
  }
  return sites
}

/**
 * One of everything that can be managed, for attacks to aim at: they get past the 404 with its ids. What an attack
 * deletes or switches off is made again.
 */
export class Victim {
  readonly #api: ApiClient
  readonly #ids = new Map<string, string>()
  ingestKey = ''

  constructor(api: ApiClient) {
    this.#api = api
  }

  /** The id that a parameter or field of this name stands for. */
  idOf(name: string): string | undefined {
    return this.#ids.get(name)
  }

  get ids(): string[] {
    return [...this.#ids.values()]
  }

  /** Makes what is missing, and switches on what is off. */
  async restore(): Promise<void> {
    const client = await this.#make('client_id', '/api/clients', { name: 'Victim', plan: 'enterprise' })
    const open = { is_active: true, plan: 'enterprise', requests_per_second: null, events_per_month: null }
    const webhook = { chat_webhook: `${NOBODY}hook`, email: null }
    await this.#api.call('PATCH', `/api/clients/${client}`, { ...open, ...webhook })
    await this.#makeSite(client)
    const site_id = this.#ids.get('site_id')
    const probe = { site_id, probe_type: 'http_health', is_active: false, timeout_ms: 1_000 }
    const probeId = await this.#make('probe_id', '/api/probes', probe)
    const ends_at = new Date(Date.now() + 3_600_000).toISOString()
    await this.#make('silence_id', '/api/silences', { site_id, ends_at })
    await this.#make('maintenance_id', '/api/maintenance', {
      site_id,
      title: 'Upkeep',
      kind: 'weekly',
      weekdays: [1],
      start: '22:30',
      duration_minutes: 30,
    })
    await this.#openAlert(probeId)
    await this.#shareStatus(client)
  }

  async #make(name: string, path: string, fields: object): Promise<string> {
    const known = this.#ids.get(name)
    if (known !== undefined && (await this.#isThere(path, known))) return known
    const { id } = await this.#api.ask<{ id: string }>('POST', path, fields)
    this.#ids.set(name, id)
    return id
  }

  /** Silences and windows cannot be read one by one: their lists are looked through. */
  async #isThere(path: string, id: string): Promise<boolean> {
    const { status, text } = await this.#api.call('GET', `${path}/${id}`)
    if (status === 200) return true
    if (!/silences|maintenance/.test(path) || text.includes('"Nothing')) return false
    return (await this.#api.call('GET', `${path}?limit=1000`)).text.includes(id)
  }

  async #makeSite(client_id: string): Promise<void> {
    const known = this.#ids.get('site_id')
    if (known !== undefined) {
      const { status, text } = await this.#api.call('PATCH', `/api/sites/${known}`, {
        is_active: true,
        url: NOBODY,
      })
      if (status === 200 && (JSON.parse(text) as { key_revoked_at: string | null }).key_revoked_at === null) return
    }
    const fields = { client_id, name: 'Victim', url: NOBODY, tag_server_url: NOBODY }
    const site = await this.#api.ask<SiteKey>('POST', '/api/sites', fields)
    this.#ids.set('site_id', site.id)
    this.#ids.set('tag_key', 'GA4')
    this.ingestKey = site.ingest_key
  }

  /** A check of an address where nothing listens is critical, and its alert leaves a message to deliver. */
  async #openAlert(probeId: string): Promise<void> {
    await this.#api.call('POST', `/api/probes/${probeId}/run`)
    const alerts = await this.#api.ask<{ id: string }[]>('GET', `/api/alerts?probe_id=${probeId}&limit=1`)
    if (alerts[0] !== undefined) this.#ids.set('alert_id', alerts[0].id)
    const deliveries = await this.#api.ask<{ id: string }[]>('GET', '/api/deliveries?limit=1')
    if (deliveries[0] !== undefined) this.#ids.set('delivery_id', deliveries[0].id)
  }

  async #shareStatus(client: string): Promise<void> {
    const { text } = await this.#api.call('POST', `/api/clients/${client}/status-link`)
    const token = /\/status\/([A-Za-z0-9_-]{43})/.exec(text)?.[1]
    if (token !== undefined) this.#ids.set('token', token)
  }
}
