import { newId } from '../../src/lib/index.ts'
import type { Answer } from '../../testkit/api.ts'
import { BODIES, ID } from './bodies.ts'
import type { Route } from './routes.ts'
import type { FullClient, TokenCaller } from './two-clients.ts'

/** Query parameters that a call needs. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'GET /api/search': ['q=co'],
  'GET /api/monitoring/sites/{site_id}/timeseries': ['metric=events'],
  'GET /api/monitoring/sites/{site_id}/export.csv': ['metric=events'],
  'GET /api/sites/{site_id}/reconciliation': ['source=shop', 'event=purchase'],
}

/** The route with the ids of one client's things; what it has none of is an id of nothing. */
export function call(
  caller: Pick<TokenCaller, 'call'>,
  { name, method, path, ids }: Route,
  of: Partial<FullClient['ids']>,
): Promise<Answer> {
  const address = path
    .replace('{tag_key}', 'GA4')
    .replace('{source}', 'shop')
    .replaceAll(/\{(\w+)\}/g, (_, id: string) => of[id] ?? newId())
  const query = ids.filter((id) => id in of).map((id) => `${id}=${of[id]}`)
  query.push(...(NEEDED[name] ?? []))
  return caller.call(method, query.length === 0 ? address : `${address}?${query.join('&')}`, bodyFor(name, of))
}

function bodyFor(name: string, of: Partial<FullClient['ids']>): unknown {
  const body = BODIES[name]
  if (body === undefined) return undefined
  // A body names clients and sites alone.
  const text = JSON.stringify(body)
  const site = text.replaceAll(`"site_id":"${ID}"`, `"site_id":"${of.site_id ?? newId()}"`)
  return JSON.parse(site.replaceAll(ID, of.client_id ?? newId()))
}
