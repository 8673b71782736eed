import type { ApiClient } from '../../testkit/api.ts'

/**
 * `public` needs no key, `ingest` has keys of its own, and what is `called` has them in its address, which no page knows. Every other
 * call needs a role: `read` a viewer's, `change` an editor's and `own` an owner's of the client that it names; of lists and of
 * what belongs to no client those of any. `serve` and `run` are about the whole service: they need a viewer's and an editor's for all clients.
 * `self` is about the account of the caller, which keys and tokens have none of.
 */
export type RouteAccess = 'public' | 'ingest' | 'called' | 'read' | 'change' | 'own' | 'serve' | 'run' | 'self'

/** Who may call what. A route that is not here fails the test: the author of a new one decides who may call it. */
export const ROUTES: Readonly<Record<string, RouteAccess>> = {
  'PATCH /api/account': 'self',
  'GET /api/account/sessions': 'self',
  'DELETE /api/account/sessions/{session_id}': 'self',
  'GET /api/audit/export.csv': 'read',
  'POST /api/password-links': 'public',
  'POST /api/password-links/read': 'public',
  'POST /api/password-links/use': 'public',
  'GET /api/tokens': 'own',
  'POST /api/tokens': 'own',
  'DELETE /api/tokens/{token_id}': 'own',
  'GET /api/users': 'own',
  'POST /api/users': 'own',
  'DELETE /api/users/{user_id}': 'own',
  'PATCH /api/users/{user_id}': 'own',
  'POST /api/users/{user_id}/link': 'own',
  'GET /api/users/{user_id}/sessions': 'own',
  'DELETE /api/users/{user_id}/sessions/{session_id}': 'own',
  'GET /api/alerts': 'read',
  'GET /api/alerts/{alert_id}': 'read',
  'POST /api/alerts/{alert_id}/acknowledge': 'change',
  'DELETE /api/alerts/{alert_id}/feedback': 'change',
  'POST /api/alerts/{alert_id}/feedback': 'change',
  'POST /api/alerts/{alert_id}/resolve': 'change',
  'POST /api/alerts/{alert_id}/unacknowledge': 'change',
  'GET /api/audit': 'read',
  'GET /api/channels': 'read',
  'GET /api/clients': 'read',
  'POST /api/clients': 'run',
  'DELETE /api/clients/{client_id}': 'own',
  'GET /api/clients/{client_id}': 'read',
  'PATCH /api/clients/{client_id}': 'change',
  'GET /api/clients/{client_id}/channels': 'read',
  'POST /api/clients/{client_id}/channels': 'change',
  'DELETE /api/clients/{client_id}/channels/{channel_id}': 'change',
  'PATCH /api/clients/{client_id}/channels/{channel_id}': 'change',
  'POST /api/clients/{client_id}/channels/{channel_id}/test': 'change',
  'DELETE /api/clients/{client_id}/status-link': 'change',
  'GET /api/clients/{client_id}/status-link': 'read',
  'POST /api/clients/{client_id}/status-link': 'change',
  'GET /api/clients/{client_id}/status-page': 'read',
  'PATCH /api/clients/{client_id}/status-page': 'change',
  'POST /api/clients/{client_id}/test-notification': 'change',
  'GET /api/clients/{client_id}/usage': 'read',
  'GET /api/dashboard/overview': 'read',
  'GET /api/deliveries': 'read',
  'POST /api/deliveries/{delivery_id}/retry': 'change',
  'POST /api/ingest': 'ingest',
  'GET /api/incidents': 'read',
  'GET /api/incidents/{incident_id}': 'read',
  'POST /api/incidents/{incident_id}/acknowledge': 'change',
  'POST /api/incidents/{incident_id}/notes': 'change',
  'POST /api/incidents/{incident_id}/resolve': 'change',
  'POST /api/incidents/{incident_id}/unacknowledge': 'change',
  'GET /api/maintenance': 'read',
  'POST /api/maintenance': 'change',
  'DELETE /api/maintenance/{maintenance_id}': 'change',
  'PATCH /api/maintenance/{maintenance_id}': 'change',
  'GET /api/monitoring/sites/{site_id}/export.csv': 'read',
  'GET /api/monitoring/sites/{site_id}/fields': 'read',
  'GET /api/monitoring/sites/{site_id}/markers': 'read',
  'GET /api/monitoring/sites/{site_id}/matrix': 'read',
  'GET /api/monitoring/sites/{site_id}/overview': 'read',
  'GET /api/monitoring/sites/{site_id}/recent': 'read',
  'GET /api/monitoring/sites/{site_id}/tags/{tag_key}': 'read',
  'GET /api/monitoring/sites/{site_id}/timeseries': 'read',
  'GET /api/nodes': 'serve',
  'GET /api/openapi.json': 'public',
  'GET /api/probe-types': 'read',
  'GET /api/probes': 'read',
  'POST /api/probes': 'change',
  'DELETE /api/probes/{probe_id}': 'change',
  'GET /api/probes/{probe_id}': 'read',
  'PATCH /api/probes/{probe_id}': 'change',
  'GET /api/probes/{probe_id}/expectation': 'read',
  'GET /api/probes/{probe_id}/push': 'read',
  'POST /api/probes/{probe_id}/push/new-address': 'change',
  'GET /api/probes/{probe_id}/results': 'read',
  'POST /api/probes/{probe_id}/run': 'change',
  'DELETE /api/session': 'public',
  'GET /api/session': 'public',
  'POST /api/session': 'public',
  'GET /api/settings': 'serve',
  'GET /api/silences': 'read',
  'POST /api/silences': 'change',
  'DELETE /api/silences/{silence_id}': 'change',
  'GET /api/sites': 'read',
  'POST /api/sites': 'change',
  'DELETE /api/sites/{site_id}': 'change',
  'GET /api/sites/{site_id}': 'read',
  'PATCH /api/sites/{site_id}': 'change',
  'POST /api/sites/{site_id}/revoke-key': 'change',
  'GET /api/annotations': 'read',
  'POST /api/annotations': 'change',
  'DELETE /api/annotations/{annotation_id}': 'change',
  'GET /api/sites/{site_id}/reconciliation': 'read',
  'GET /api/sites/{site_id}/reference-counts': 'read',
  'POST /api/sites/{site_id}/reference-counts': 'change',
  'DELETE /api/sites/{site_id}/reference-counts/{source}': 'change',
  'GET /api/sites/{site_id}/special-days': 'read',
  'POST /api/sites/{site_id}/special-days': 'change',
  'DELETE /api/sites/{site_id}/special-days/{special_days_id}': 'change',
  'GET /api/sites/{site_id}/tag-vendors': 'read',
  'DELETE /api/sites/{site_id}/tag-vendors/{tag_key}': 'change',
  'POST /api/sites/{site_id}/tag-vendors/{tag_key}': 'change',
  'GET /api/sites/{site_id}/template.tpl': 'read',
  'GET /api/sites/{site_id}/uptime': 'read',
  'GET /api/status/{token}': 'public',
  'GET /api/status/{token}/feed.atom': 'public',
  'GET /api/status/{token}/logo': 'public',
  'GET /api/status/{token}/incidents/{incident_id}': 'public',
  'GET /api/stream': 'read',
  'GET /api/search': 'read',
  'GET /api/tags': 'read',
  'GET /api/tags/sites': 'read',
  'GET /api/today': 'read',
  'GET /api/vendors': 'read',
  'GET /api/views': 'read',
  'POST /api/views': 'change',
  'DELETE /api/views/{view_id}': 'change',
  'GET /api/clients/{client_id}/subscribers': 'read',
  'DELETE /api/clients/{client_id}/subscribers/{subscriber_id}': 'change',
  'POST /api/status/{token}/subscribers': 'public',
  'GET /api/status/{token}/subscribers/{secret}': 'public',
  'DELETE /api/status/{token}/subscribers/{secret}': 'public',
  'POST /api/status/{token}/subscribers/{secret}/confirm': 'public',
  'GET /badge/{site_id}.svg': 'public',
  'GET /health': 'public',
  'POST /ingest': 'ingest',
  'GET /push/{token}': 'called',
  'POST /push/{token}': 'called',
  'GET /push/{token}/{signal}': 'called',
  'POST /push/{token}/{signal}': 'called',
  'GET /ready': 'public',
}

export interface Route {
  name: string
  method: string
  path: string
  /** Names of the query parameters that are ids. */
  ids: readonly string[]
}

interface Operation {
  parameters?: { name: string; in: string; schema?: { format?: string } }[]
}

/** Every route that the service describes. */
export async function routesOf(api: Pick<ApiClient, 'call'>): Promise<Route[]> {
  const { paths } = (await api.call('GET', '/api/openapi.json')).json<{
    paths: Record<string, Record<string, Operation>>
  }>()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      ids: parameters.flatMap(({ name, in: part, schema }) =>
        part === 'query' && schema?.format === 'uuid' ? name : [],
      ),
    })),
  )
}
