import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Clock, newId, systemClock } from '../../src/lib/index.ts'
import type { Store, Tables } from '../../src/store/index.ts'
import { apiClient, bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, sqlite, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { BODIES, ID } from './bodies.ts'
import { call } from './calling.ts'
import { describedBy } from './described.ts'
import { ROUTES, type Route, type RouteAccess, routesOf } from './routes.ts'
import { callersOf, type FullClient, fullClient, type TokenCaller } from './two-clients.ts'

const ADMIN = 'admin-token-0123456789'
const NOW = Date.parse('2026-11-20T10:00:00Z')
const OWN = 'Ownco'
const FOREIGN = 'Strangeco'

/** A service with two clients that have one of everything, and callers of every role for the first and for both. */
async function openTwo(t: TestContext, engine: Parameters<typeof placeFor>[0], clock: Clock = new TestClock(NOW)) {
  const api = await startTestService(t, clock, { ...(await placeFor(engine, t)), ADMIN_TOKEN: ADMIN })
  const admin = apiClient(api.url, bearer(ADMIN))
  const own = await fullClient(api, admin, OWN, clock.now())
  const foreign = await fullClient(api, admin, FOREIGN, clock.now())
  await api.service.ingest.flush()
  const routes = (await routesOf(api)).filter(({ name }) => isScoped(ROUTES[name]) && name !== 'GET /api/stream')
  return { api, admin, own, foreign, routes, callers: await callersOf(admin, own.ids.client_id ?? '') }
}

const isScoped = (access: RouteAccess | undefined): boolean =>
  access !== undefined && !['public', 'ingest', 'called', 'self'].includes(access)

/** Whether a call takes an id in its path, query or body. */
const namesSomething = ({ name, path, ids }: Route): boolean =>
  path.includes('_id}') || ids.length > 0 || JSON.stringify(BODIES[name] ?? '').includes(ID)

testPerEngine(
  'an id of a foreign client is answered as one of nothing, whatever the route and role',
  async (engine, t) => {
    const { api, callers, routes, foreign } = await openTwo(t, engine)
    const before = await rowsOf(api.service.store, foreign)
    let compared = 0
    for (const caller of callers.filter(({ sees }) => sees === 'one')) {
      for (const route of routes.filter(namesSomething)) {
        const fuzzed = Object.fromEntries(Object.keys(foreign.ids).map((name) => [name, newId()]))
        const [theirs, nothing] = [await call(caller, route, foreign.ids), await call(caller, route, fuzzed)]
        const shown = `${route.name} as ${caller.name}`
        assert.deepEqual([theirs.status, theirs.text], [nothing.status, nothing.text], shown)
        assert.ok(theirs.status < 500, `${shown}: ${theirs.text}`)
        const isAboutSomething = /\{\w+_id\}/.test(route.path) && theirs.status !== 403
        if (isAboutSomething) assert.ok([404, 200].includes(theirs.status), `${shown}: ${theirs.status} ${theirs.text}`)
        compared++
      }
    }
    assert.ok(compared > 250, `it compared ${compared} answers`)
    assert.deepEqual(await rowsOf(api.service.store, foreign), before)
  },
  logicEngines,
)

test('a list does not go on from what a foreign client resolved, as from nothing', async (t) => {
  const { api, callers, own, foreign } = await openTwo(t, sqlite)
  for (const table of ['alerts', 'incidents'] as const) {
    await api.service.store.write.updateTable(table).set({ state: 'resolved', resolved_at: NOW }).execute()
  }
  for (const caller of callers) {
    for (const kind of ['alert', 'incident']) {
      const from = async (id = '') => (await caller.call('GET', `/api/${kind}s?order=resolved&before=${id}`)).status
      const shown = `${kind} as ${caller.name}`
      assert.equal(await from(own.ids[`${kind}_id`]), 200, shown)
      assert.equal(await from(foreign.ids[`${kind}_id`]), caller.sees === 'all' ? 200 : 400, shown)
    }
  }
})

testPerEngine('no answer to who sees one client holds anything of another', async (engine, t) => {
  const { callers, routes, own, foreign } = await openTwo(t, engine)
  const reading = routes.filter(({ method }) => method === 'GET')
  const everything = callers.find(({ sees, role }) => sees === 'all' && role === 'owner')
  assert.ok(everything !== undefined)
  const holding: string[] = []
  for (const route of reading) {
    // Without ids in the query: lists say what they can.
    const asked = { ...route, ids: [] }
    const all = await call(everything, asked, foreign.ids)
    if (markIn(all.text, foreign) !== undefined) holding.push(route.name)
    for (const caller of callers.filter(({ sees }) => sees === 'one')) {
      const answer = await call(caller, asked, own.ids)
      const shown = `${route.name} as ${caller.name}`
      assert.equal(markIn(answer.text, foreign), undefined, `${shown}: ${answer.text}`)
      assert.equal(markIn(JSON.stringify([...answer.headers]), foreign), undefined, shown)
    }
  }
  // Or the search sees nothing: these lists hold something of every client.
  for (const name of LISTS) assert.ok(holding.includes(name), `${name} held nothing of the other client`)
})

const LISTS = [
  'GET /api/alerts',
  'GET /api/audit',
  'GET /api/audit/export.csv',
  'GET /api/channels',
  'GET /api/clients',
  'GET /api/dashboard/overview',
  'GET /api/deliveries',
  'GET /api/incidents',
  'GET /api/maintenance',
  'GET /api/probes',
  'GET /api/search',
  'GET /api/silences',
  'GET /api/sites',
  'GET /api/today',
  'GET /api/views',
]

const markIn = (text: string, { marks }: FullClient): string | undefined => marks.find((mark) => text.includes(mark))

test('every route lets each role do what its row says, and answers as it is described', async (t) => {
  const { api, callers, routes, own } = await openTwo(t, sqlite)
  const faultOf = await describedBy(api)
  // What is deleted is gone for those who come later: who may do least comes first, and deletions last. With the client go the tokens for it.
  const rank = ({ name, method }: Route) =>
    name === 'DELETE /api/clients/{client_id}' ? 2 : Number(method === 'DELETE')
  const ordered = routes.toSorted((a, b) => rank(a) - rank(b))
  for (const caller of callers.toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role))) {
    for (const route of ordered) {
      const access = ROUTES[route.name]
      assert.ok(access !== undefined)
      const answer = await call(caller, { ...route, ids: [] }, own.ids)
      const shown = `${route.name} as ${caller.name}: ${answer.status} ${answer.text}`
      assert.equal(faultOf(route.name, answer), null, shown)
      if (!mayCall(caller, access)) assert.equal(answer.status, 403, shown)
      else {
        assert.ok(![401, 403].includes(answer.status) && answer.status < 500, shown)
        if (caller.role === 'viewer' && !NOT_THERE.includes(route.name)) assert.equal(answer.status, 200, shown)
      }
    }
  }
})

/** What even the full client has nothing of. */
const NOT_THERE = [
  // Asked for without a question.
  'POST /mcp',
  'GET /api/probes/{probe_id}/expectation',
  'GET /api/monitoring/sites/{site_id}/tags/{tag_key}',
  'GET /api/annotations',
  'GET /api/clients/{client_id}/status-page/logo',
  'GET /api/tags/sites',
]

const ROLES = ['viewer', 'editor', 'owner']

function mayCall({ role, sees }: TokenCaller, access: RouteAccess): boolean {
  if (access === 'serve') return sees === 'all'
  if (access === 'run') return sees === 'all' && role !== 'viewer'
  if (access === 'own') return role === 'owner'
  return access === 'read' || role !== 'viewer'
}

testPerEngine(
  'the event stream tells each caller of their clients alone',
  async (engine, t) => {
    const { api, admin, callers, own, foreign } = await openTwo(t, engine, systemClock)
    const [one, all] = ['one', 'all'].map((sees) => callers.find((caller) => caller.sees === sees))
    assert.ok(one !== undefined && all !== undefined)
    const [ofOne, ofAll] = [await listenTo(t, admin, one), await listenTo(t, admin, all)]
    // What the clients have just ingested may be said first, and `alive` then only 25 seconds later.
    await until('both are live', () => (ofOne().includes('event: ') && ofAll().includes('event: ')) || undefined)
    for (const { ids } of [foreign, own]) {
      await admin.ask('POST', `/api/alerts/${ids.alert_id}/acknowledge`)
      await api.service.store.write
        .updateTable('probes')
        .set({ last_status: 'critical' })
        .where('id', '=', ids.probe_id ?? '')
        .execute()
    }
    const happened = ({ ids }: FullClient, text: string) =>
      text.includes(ids.alert_id ?? '') && text.includes(ids.probe_id ?? '')
    await until('all of it is told', () => (happened(own, ofAll()) && happened(foreign, ofAll())) || undefined)
    await until('their part is told', () => happened(own, ofOne()) || undefined)
    assert.equal(markIn(ofOne(), foreign), undefined)
  },
  logicEngines,
)

/** What the caller's event stream has said so far. */
async function listenTo(t: TestContext, { url }: { url: string }, caller: TokenCaller): Promise<() => string> {
  const controller = new AbortController()
  t.after(() => controller.abort())
  const response = await fetch(`${url}/api/stream`, { headers: bearer(caller.token), signal: controller.signal })
  assert.equal(response.status, 200)
  let text = ''
  const decoder = new TextDecoder()
  void (async () => {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk)
  })().catch(() => undefined) // Cut when the test ends.
  return () => text
}

const CLIENT_TABLES: readonly (keyof Tables)[] = [
  'clients',
  'client_channels',
  'status_links',
  'status_looks',
  'status_subscribers',
  'announced_incidents',
  'announced_maintenance',
  'digest_readers',
]
const BY_CLIENT: readonly (keyof Tables)[] = ['sites', 'alerts', 'incidents', 'annotations', 'deliveries']

/** Everything that is stored of the client. */
async function rowsOf(store: Store, { ids }: FullClient): Promise<unknown> {
  const rows: Record<string, unknown> = {}
  for (const table of [...CLIENT_TABLES, ...BY_CLIENT]) {
    const all = await store.read.selectFrom(table).selectAll().execute()
    rows[table] = all.filter((row) => Object.values(row).some((value) => value === ids.client_id))
  }
  for (const table of [
    'probes',
    'special_days',
    'silences',
    'maintenance',
    'reference_counts',
    'tag_vendors',
  ] as const) {
    const all = await store.read.selectFrom(table).selectAll().execute()
    rows[table] = all.filter((row) => Object.values(row).some((value) => value === ids.site_id))
  }
  return rows
}
