/** Sends a request to the management or monitoring API. @throws Error with the answer when that is not a success. */
export async function requestJson<T>(method: string, url: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(url, { method, ...init })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as T
}

/** Address of a site's overview over the last `hours`. */
export const overviewUrl = (serverUrl: string, siteId: string, hours: number): string =>
  `${serverUrl}/api/monitoring/sites/${siteId}/overview?hours=${hours}`
