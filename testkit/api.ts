import assert from 'node:assert/strict'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The body as JSON; reading it of another kind of answer fails the test. */
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
  newClient: (fields?: object) => Promise<{ id: string }>
  newSite: (client: { id: string }, fields?: object) => Promise<SiteKey>
  /** Posts a payload with the site's key. */
  ingest: (site: SiteKey, payload: unknown, headers?: Record<string, string>) => Promise<Answer>
}

/** Speaks to a running Tagwarden over HTTP. */
export function apiClient(url: string): ApiClient {
  const call: ApiClient['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T }
  }
  const create = async <T>(path: string, body: object): Promise<T> => {
    const answer = await call('POST', path, body)
    assert.equal(answer.status, 201, answer.text)
    return answer.json<T>()
  }
  return {
    url,
    call,
    newClient: (fields = {}) => create('/api/clients', { name: 'Acme', plan: 'enterprise', ...fields }),
    newSite: (client, fields = {}) =>
      create('/api/sites', { client_id: client.id, name: 'shop', url: 'https://shop.example', ...fields }),
    ingest: (site, payload, headers = {}) =>
      call('POST', '/ingest', payload, { 'x-service-key': site.ingest_key, ...headers }),
  }
}
