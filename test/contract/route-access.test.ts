import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, systemClock } from '../../src/lib/index.ts'
import { bearer } from '../../testkit/api.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

type Access = 'public' | 'read' | 'change' | 'ingest' | 'called'

/**
 * Who may call what. `read` needs a key, `change` the admin's; `ingest` has keys of its own, and what
 * is `called` has them in its address, which no page knows. A route that is not here fails the
 * test: the author of a new one decides who may call it.
 */
const ROUTES: Readonly<Record<string, Access>> = {
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
  'POST /api/clients': 'change',
  'DELETE /api/clients/{client_id}': 'change',
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
  'GET /api/monitoring/sites/{site_id}/diagnostics': 'read',
  'GET /api/monitoring/sites/{site_id}/export.csv': 'read',
  'GET /api/monitoring/sites/{site_id}/fields': 'read',
  'GET /api/monitoring/sites/{site_id}/markers': 'read',
  'GET /api/monitoring/sites/{site_id}/matrix': 'read',
  'GET /api/monitoring/sites/{site_id}/overview': 'read',
  'GET /api/monitoring/sites/{site_id}/recent': 'read',
  'GET /api/monitoring/sites/{site_id}/tags/{tag_key}': 'read',
  'GET /api/monitoring/sites/{site_id}/timeseries': 'read',
  'GET /api/nodes': 'read',
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
  'GET /api/settings': 'read',
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

const SIGN_OUT = 'DELETE /api/session'
const ADMIN = 'admin-token-0123456789'
const VIEWER = 'viewer-token-0123456789'

interface Route {
  name: string
  method: string
  path: string
}

interface Caller {
  name: string
  role: 'nobody' | 'viewer' | 'admin' | 'foreign page'
  headers: Record<string, string>
}

test('every route answers each caller as its row says', async (t) => {
  const api = await startTestService(t, systemClock, { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER })
  const routes = await routesOf(api)
  assert.deepEqual(routes.map(({ name }) => name).sort(), Object.keys(ROUTES).sort())
  const callers = await callersOf(api)
  // Signing out last: it takes the sessions of these callers away.
  routes.sort((a, b) => Number(a.name === SIGN_OUT) - Number(b.name === SIGN_OUT))
  for (const route of routes) {
    for (const caller of callers) {
      const status = await statusOf(api, route, caller.headers)
      const expected = refusalOf(route, caller)
      const shown = `${route.name} as ${caller.name}: ${status}`
      if (expected === null) assert.ok(![401, 403].includes(status) && status < 500, shown)
      else assert.equal(status, expected, shown)
    }
  }
})

function refusalOf(route: Route, { role }: Caller): 401 | 403 | null {
  const access = ROUTES[route.name]
  if (access === 'ingest') return 401
  if (access === 'called') return null
  // Its browser sends the cookie along: it may ask, and cannot read the answer, but it may change nothing.
  if (role === 'foreign page') return route.method === 'GET' ? null : 403
  if (access === 'public') return null
  if (role === 'nobody') return 401
  return access === 'change' && role === 'viewer' ? 403 : null
}

async function routesOf(api: TestService): Promise<Route[]> {
  const { paths } = (await api.call('GET', '/api/openapi.json')).json<{ paths: Record<string, object> }>()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
    })),
  )
}

async function callersOf(api: TestService): Promise<Caller[]> {
  const cookie = async (token: string) => {
    const answer = await api.call('POST', '/api/session', { token })
    return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  const [admin, viewer] = [await cookie(ADMIN), await cookie(VIEWER)]
  return [
    { name: 'nobody', role: 'nobody', headers: {} },
    { name: 'viewer by key', role: 'viewer', headers: bearer(VIEWER) },
    { name: 'viewer by cookie', role: 'viewer', headers: { cookie: viewer, origin: api.url } },
    { name: 'admin by key', role: 'admin', headers: bearer(ADMIN) },
    { name: 'admin by cookie', role: 'admin', headers: { cookie: admin, origin: api.url } },
    { name: 'a foreign page', role: 'foreign page', headers: { cookie: admin, origin: 'https://evil.example' } },
  ]
}

/** The status alone, of things that do not exist: what is asked is only whether one gets as far as that. */
async function statusOf(api: TestService, { method, path }: Route, headers: Record<string, string>): Promise<number> {
  const controller = new AbortController()
  const response = await fetch(api.url + path.replace(/\{\w+\}/g, newId()), {
    method,
    headers: { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
    // Not what any route takes: signing in with it is refused before a key is looked at, and nobody is signed out.
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: '[]' }),
    signal: controller.signal,
  })
  controller.abort() // An event stream has no end.
  return response.status
}
