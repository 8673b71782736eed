import type { ApiClient } from './api.ts'

interface Parameter {
  name: string
  in: 'path' | 'query'
  required?: boolean
  schema: { enum?: string[] }
}

interface Document {
  paths: Record<string, { get?: { parameters?: Parameter[] } }>
}

/** Routes that answer about the process itself, never end, or return no data. */
const NOT_ASKED = [
  '/api/openapi.json',
  '/api/session',
  '/api/stream',
  '/api/nodes',
  '/api/settings',
  '/health',
  '/ready',
]

/** The lists that contain the ids used in paths. */
const LISTS: Readonly<Record<string, string>> = {
  alert_id: '/api/alerts',
  client_id: '/api/clients',
  incident_id: '/api/incidents',
  probe_id: '/api/probes',
  site_id: '/api/sites',
}

/**
 * All GET requests that a running service can answer: for each site, client and tag, the first few probes, alerts and incidents, and each
 * value of parameters that have a list of them.
 *
 * @param most maximum number of alerts, incidents and probes
 * @returns paths with their query
 */
export async function questionsTo(api: ApiClient, most = 3): Promise<string[]> {
  const { paths } = (await api.call('GET', '/api/openapi.json')).json<Document>()
  const ids = await idsOf(api, most)
  const questions = Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined || NOT_ASKED.includes(path)) return []
    const searches = searchesOf(get.parameters ?? [])
    return filled(path, ids).flatMap((known) => searches.map((search) => `${known}?${search}`))
  })
  const keys = new Map<string, string[]>()
  // One after the other and once per site, because a service refuses some of hundreds of reports at once.
  for (const site of ids.get('site_id') ?? []) keys.set(site, await tagKeysOf(api, site))
  return [...new Set(questions.flatMap((question) => withTagKeys(question, keys)))]
}

async function idsOf(api: ApiClient, most: number): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const [name, path] of Object.entries(LISTS)) {
    const rows = (await api.call('GET', path)).json<{ id: string }[]>()
    const isBounded = name !== 'site_id' && name !== 'client_id'
    found.set(
      name,
      rows.slice(0, isBounded ? most : rows.length).map(({ id }) => id),
    )
  }
  return found
}

/** The path once for each id of its parameter; unchanged without one. */
function filled(path: string, ids: ReadonlyMap<string, string[]>): string[] {
  for (const [name, known] of ids) {
    const place = `{${name}}`
    if (path.includes(place)) return known.map((id) => path.replace(place, id))
  }
  return [path]
}

function searchesOf(parameters: readonly Parameter[]): string[] {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const choices = ({ name, schema }: Parameter): string[] => (schema.enum ?? []).map((value) => `${name}=${value}`)
  const required = inQuery.filter((parameter) => parameter.required === true).flatMap(choices)
  const optional = inQuery.filter((parameter) => parameter.required !== true).flatMap(choices)
  const hours = inQuery.some(({ name }) => name === 'hours') ? ['hours=60'] : []
  return (required.length > 0 ? required : ['']).flatMap((first) =>
    ['', ...hours, ...optional].map((second) => [first, second].filter((part) => part !== '').join('&')),
  )
}

async function tagKeysOf(api: ApiClient, siteId: string): Promise<string[]> {
  const overview = await api.call('GET', `/api/monitoring/sites/${siteId}/overview`)
  return overview.json<{ tags: { tag_key: string }[] }>().tags.map(({ tag_key }) => tag_key)
}

/** The question once for each tag of its site; unchanged if it has no tag. */
function withTagKeys(question: string, keys: ReadonlyMap<string, string[]>): string[] {
  if (!question.includes('{tag_key}')) return [question]
  const siteId = /\/sites\/([^/]+)\//.exec(question)?.[1] ?? ''
  return (keys.get(siteId) ?? []).map((key) => question.replace('{tag_key}', encodeURIComponent(key)))
}

export interface Answered {
  status: number
  /** Parsed if it is JSON. */
  body: unknown
}

/** The service's answer to one of the questions. */
export async function answerTo(api: ApiClient, question: string): Promise<Answered> {
  const { status, headers, text } = await api.call('GET', question)
  if (headers.get('content-type')?.startsWith('application/json') !== true) return { status, body: text }
  return { status, body: JSON.parse(text) }
}
