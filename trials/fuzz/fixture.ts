import { type Caller, call, demand } from './management.ts'

export interface KeyedSite {
  id: string
  ingest_key: string
}

/** A client with as many sites, whose limits nothing reaches. */
export async function newSites(caller: Caller, name: string, count: number): Promise<KeyedSite[]> {
  const client = await demand<{ id: string }>(caller, 'POST', '/api/clients', { name, plan: 'enterprise' })
  const sites: KeyedSite[] = []
  for (let index = 0; index < count; index++) {
    const fields = { client_id: client.id, name: `${name} ${index}`, url: 'http://127.0.0.1:9/' }
    sites.push(await demand<KeyedSite>(caller, 'POST', '/api/sites', fields))
  }
  return sites
}

/** The address that everything here points to: nothing listens, and no attack leaves this machine. */
const NOBODY = 'http://127.0.0.1:9/'

/**
 * One of everything that can be managed, for attacks to aim at: they get past the 404 with its ids. What an attack
 * deletes or switches off is made again.
 */
export class Victim {
  readonly #caller: Caller
  readonly #ids = new Map<string, string>()
  ingestKey = ''

  constructor(caller: Caller) {
    this.#caller = caller
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
    await call(this.#caller, 'PATCH', `/api/clients/${client}`, { ...open, ...webhook })
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
    const { id } = await demand<{ id: string }>(this.#caller, 'POST', path, fields)
    this.#ids.set(name, id)
    return id
  }

  /** Silences and windows cannot be read one by one: their lists are looked through. */
  async #isThere(path: string, id: string): Promise<boolean> {
    const { status, text } = await call(this.#caller, 'GET', `${path}/${id}`)
    if (status === 200) return true
    if (!/silences|maintenance/.test(path) || text.includes('"Nothing')) return false
    return (await call(this.#caller, 'GET', `${path}?limit=1000`)).text.includes(id)
  }

  async #makeSite(client_id: string): Promise<void> {
    const known = this.#ids.get('site_id')
    if (known !== undefined) {
      const { status, text } = await call(this.#caller, 'PATCH', `/api/sites/${known}`, {
        is_active: true,
        url: NOBODY,
      })
      if (status === 200 && (JSON.parse(text) as { key_revoked_at: string | null }).key_revoked_at === null) return
    }
    const fields = { client_id, name: 'Victim', url: NOBODY, tag_server_url: NOBODY }
    const site = await demand<KeyedSite>(this.#caller, 'POST', '/api/sites', fields)
    this.#ids.set('site_id', site.id)
    this.#ids.set('tag_key', 'GA4')
    this.ingestKey = site.ingest_key
  }

  /** A check of an address where nothing listens is critical, and its alert leaves a message to deliver. */
  async #openAlert(probeId: string): Promise<void> {
    await call(this.#caller, 'POST', `/api/probes/${probeId}/run`)
    const alerts = await demand<{ id: string }[]>(this.#caller, 'GET', `/api/alerts?probe_id=${probeId}&limit=1`)
    if (alerts[0] !== undefined) this.#ids.set('alert_id', alerts[0].id)
    const deliveries = await demand<{ id: string }[]>(this.#caller, 'GET', '/api/deliveries?limit=1')
    if (deliveries[0] !== undefined) this.#ids.set('delivery_id', deliveries[0].id)
  }

  async #shareStatus(client: string): Promise<void> {
    const { text } = await call(this.#caller, 'POST', `/api/clients/${client}/status-link`)
    const token = /\/status\/([A-Za-z0-9_-]{43})/.exec(text)?.[1]
    if (token !== undefined) this.#ids.set('token', token)
  }
}
