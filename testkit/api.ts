export interface Answer {
  status: number
  headers: Headers
  text: string
  /** Parses the body as JSON; fails for another content type. */
  json: <T>() => T
}

export interface SiteKey {
  id: string
  client_id: string
  ingest_key: string
}

export interface ApiClient {
  url: string
  call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
  /** The same for a JSON or empty answer. @throws Error with the answer when it is not a success */
  ask: <T>(method: string, path: string, body?: unknown) => Promise<T>
  newClient: (fields?: object) => Promise<{ id: string }>
  newSite: (client: { id: string }, fields?: object) => Promise<SiteKey>
  /** Posts a payload with the site's key. */
  ingest: (site: SiteKey, payload: unknown, headers?: Record<string, string>) => Promise<Answer>
  /** Number of events in the last hours by the site's overview. */
  totalEvents: (site: { id: string }, hours: number) => Promise<number>
}

const ERROR_CHARACTERS = 500

/** A client of a running Tagwarden over HTTP. @param always headers of every request, such as the caller's token */
export function apiClient(url: string, always: Readonly<Record<string, string>> = {}): ApiClient {
  const call: ApiClient['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...always, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T }
  }
  const ask: ApiClient['ask'] = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await call(method, path, body)
    if (answer.status < 200 || answer.status >= 300) {
      throw new Error(`${method} ${url}${path} answered ${answer.status}: ${answer.text.slice(0, ERROR_CHARACTERS)}`)
    }
    return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T
  }
  return {
    url,
    call,
    ask,
    newClient: (fields = {}) => ask('POST', '/api/clients', { name: 'Acme', plan: 'enterprise', ...fields }),
    newSite: (client, fields = {}) =>
      ask('POST', '/api/sites', { client_id: client.id, name: 'shop', url: 'https://shop.example', ...fields }),
    ingest: (site, payload, headers = {}) =>
      call('POST', '/ingest', payload, { 'x-service-key': site.ingest_key, ...headers }),
    totalEvents: async (site, hours) =>
      (await ask<{ total_events: number }>('GET', overviewPath(site, hours))).total_events,
  }
}

/** The header that authenticates a caller. */
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export const overviewPath = (site: { id: string }, hours: number): string =>
  `/api/monitoring/sites/${site.id}/overview?hours=${hours}`
