import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, systemClock } from '../../src/lib/index.ts'
import { bearer } from '../../testkit/api.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { ROUTES, type Route, routesOf } from './routes.ts'

const SIGN_OUT = 'DELETE /api/session'
const ADMIN = 'admin-token-0123456789'
const VIEWER = 'viewer-token-0123456789'

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
      // Without an account there is nothing to read or change.
      if (expected === null && ROUTES[route.name] === 'self') assert.ok([400, 403].includes(status), shown)
      else if (expected === null) assert.ok(![401, 403].includes(status) && status < 500, shown)
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
  const isReading = access === 'read' || access === 'serve' || access === 'self'
  return role === 'viewer' && !isReading ? 403 : null
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
