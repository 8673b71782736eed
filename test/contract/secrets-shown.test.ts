import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { pino } from 'pino'
import { SECOND } from '../../src/lib/index.ts'
import { backUpSqlite } from '../../src/store/index.ts'
import { type ApiClient, apiClient, bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, sqlite, type TestEngine, tempDir, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { ADMIN, join as accept, NOW, PASSWORD, secretOf, signIn } from '../accounts/support.ts'
import { call } from './calling.ts'
import { routesOf } from './routes.ts'
import { fullClient } from './two-clients.ts'

const CHAT = 'https://hooks.slack.com/services/T000/B000/secret-of-the-webhook'

const SETTINGS = { ADMIN_TOKEN: ADMIN, CHAT_WEBHOOK_URL: CHAT, PUBLIC_URL: 'http://tagwarden.example' }

/** What lets someone in, or is as good as that. */
type Secrets = Readonly<Record<string, string>>

async function openWithSecrets(t: TestContext, engine: TestEngine) {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const clock = new TestClock(NOW)
  const place = await placeFor(engine, t)
  const api = await startTestService(t, clock, { ...place, ...SETTINGS }, log)
  const admin = apiClient(api.url, bearer(ADMIN))
  const own = await fullClient(api, admin, 'Ownco', clock.now())
  const { client_id: clientId = '', site_id: siteId = '', probe_id: probeId = '' } = own.ids

  await accept(admin, 'ada@agency.example', [{ client_id: null, role: 'owner' }])
  const signedIn = await signIn(api.url, 'ada@agency.example')
  const session = /tagwarden_session=([^;]+)/.exec(signedIn.answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
  const ada: ApiClient = signedIn
  const { secret: totp } = await ada.ask<{ secret: string }>('POST', '/api/account/two-step', { password: PASSWORD })
  const code = () => new TOTP({ secret: Secret.fromBase32(totp) }).generate({ timestamp: clock.now() })
  const firstCode = code()
  const { recovery_codes: recovery } = await ada.ask<{ recovery_codes: string[] }>(
    'POST',
    '/api/account/two-step/confirm',
    { code: firstCode },
  )
  /** Sent twice, as by a browser that lost the connection: the second is answered with the same secrets. */
  const create = async <T>(path: string, body: object): Promise<T> => {
    const send = () => ada.call('POST', path, body, { 'idempotency-key': `made by ${JSON.stringify(body)}` })
    const [first, again] = [await send(), await send()]
    assert.deepEqual([first.status, again.status, again.text], [201, 201, first.text])
    return first.json()
  }
  const token = async (role: string) =>
    (await create<{ token: string }>('/api/tokens', { name: `${role} of all`, role })).token
  const [owner, viewer] = [await token('owner'), await token('viewer')]
  const roles = [{ client_id: clientId, role: 'viewer' }]
  const invited = await create<{ link: { url: string } }>('/api/users', { email: 'bea@agency.example', roles })
  const site = await admin.ask<{ id: string; client_id: string; ingest_key: string }>('GET', `/api/sites/${siteId}`)
  const { url: pushUrl } = await admin.ask<{ url: string }>('GET', `/api/probes/${probeId}/push`)

  const secrets = {
    'the session': session,
    'the API token': owner,
    "the viewer's API token": viewer,
    'the invitation': secretOf(invited.link.url),
    'the secret of the app': totp,
    'a recovery code': recovery[0] ?? '',
    'another recovery code': recovery[1] ?? '',
    'the ingest key': site.ingest_key,
    'the push token': pushUrl.split('/').at(-1) ?? '',
    'the password': PASSWORD,
    'the key': ADMIN,
    'the webhook': CHAT,
  }
  for (const [name, secret] of Object.entries(secrets)) assert.ok(secret.length >= 16, name)

  /** Each as it is meant, and as people get it wrong. @returns the answers */
  const useAll = async (): Promise<number[]> => {
    clock.advance(30 * SECOND)
    const open = apiClient(api.url)
    const push = new URL(pushUrl).pathname
    const by = { email: 'ada@agency.example', password: PASSWORD }
    const asked: [method: string, path: string, body?: unknown, headers?: Record<string, string>][] = [
      ['GET', '/api/clients', undefined, bearer(owner)],
      ['GET', '/api/clients', undefined, bearer(viewer)],
      ['GET', '/api/clients', undefined, bearer(`${owner}x`)],
      ['GET', '/api/clients', undefined, { cookie: `tagwarden_session=${session}` }],
      ['POST', '/api/clients', '{"name":', { ...bearer(owner), 'content-type': 'application/json' }],
      ['GET', `/api/clients?token=${owner}`, undefined, bearer(owner)],
      ['POST', '/api/session', by],
      ['POST', '/api/session', { ...by, code: code() }],
      ['POST', '/api/session', { ...by, code: recovery[0] }],
      ['POST', '/api/session', { ...by, password: `${PASSWORD}x` }],
      ['POST', '/api/session', { token: ADMIN }],
      ['POST', '/api/password-links/read', { secret: secrets['the invitation'] }],
      ['POST', '/api/password-links/use', { secret: secrets['the invitation'], password: 'short' }],
      ['GET', push],
      ['POST', `${push}/fail`, 'the job failed'],
      ['GET', `${push}/${'9'.repeat(9)}`],
      ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, bearer(owner)],
      ['POST', '/ingest', { nonsense: true }, { 'x-service-key': site.ingest_key }],
      ['POST', `/ingest?key=${site.ingest_key}`, eventPayload({ timestamp_ms: clock.now() })],
      ['POST', '/ingest', eventPayload({ timestamp_ms: clock.now() }), { 'x-api-key': site.ingest_key }],
      ['POST', '/ingest', eventPayload({ timestamp_ms: clock.now() }), { 'x-service-key': `${site.ingest_key}x` }],
      ['POST', '/ingest', eventPayload({ timestamp_ms: clock.now() }), { 'x-service-key': site.ingest_key }],
    ]
    const statuses: number[] = []
    for (const each of asked) statuses.push((await open.call(...each)).status)
    return statuses
  }
  return { api, admin, ada, clock, place, own, owner, viewer, lines, secrets, useAll }
}

/** Names of the secrets that a text holds, as they are or as an address or JSON has them. */
const heldBy = (text: string, secrets: Secrets, but: readonly string[] = []): string[] =>
  Object.entries(secrets)
    .filter(([name]) => !but.includes(name))
    .filter(([, secret]) =>
      [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)].some((form) => text.includes(form)),
    )
    .map(([name]) => name)

/** Where someone who may change a client reads its keys: they are to be copied from there. */
const SHOWN_TO_EDITORS: Readonly<Record<string, readonly string[]>> = {
  'GET /api/sites': ['the ingest key'],
  'GET /api/sites/{site_id}': ['the ingest key'],
  'GET /api/sites/{site_id}/keys': ['the ingest key'],
  // The tag to import, ready to send.
  'GET /api/sites/{site_id}/template.tpl': ['the ingest key'],
  'GET /api/probes/{probe_id}/push': ['the push token'],
}

testPerEngine(
  'no answer shows what lets someone in, but keys of clients to those who change them',
  async (engine, t) => {
    const { api, ada, own, owner, viewer, secrets, useAll } = await openWithSecrets(t, engine)
    const statuses = await useAll()
    for (const status of [200, 401, 404, 400]) assert.ok(statuses.includes(status), `${status} of ${statuses.join()}`)
    await api.service.ingest.flush()
    const routes = (await routesOf(api)).filter(({ method, name }) => method === 'GET' && name !== 'GET /api/stream')
    const callers = [
      { name: 'a viewer', isViewer: true, ...apiClient(api.url, bearer(viewer)) },
      { name: 'an owner', isViewer: false, ...apiClient(api.url, bearer(owner)) },
      { name: 'a person', isViewer: false, ...ada },
    ]
    let answered = 0
    for (const caller of callers) {
      for (const route of routes.filter(({ name }) => !name.startsWith('GET /push/'))) {
        const answer = await call(caller, route, own.ids)
        const shown = caller.isViewer ? [] : (SHOWN_TO_EDITORS[route.name] ?? [])
        const headers = JSON.stringify([...answer.headers])
        assert.deepEqual(
          heldBy(answer.text + headers, secrets).sort(),
          [...shown].sort(),
          `${route.name} for ${caller.name}`,
        )
        if (answer.status === 200) answered += 1
      }
    }
    assert.ok(answered > 2 * routes.length, `${answered} answers of ${routes.length} routes`)
  },
  logicEngines,
)

testPerEngine(
  'no line of the log and no entry of the audit log has them, also when everything fails',
  async (engine, t) => {
    const { api, lines, secrets, useAll } = await openWithSecrets(t, engine)
    await useAll()
    await api.service.ingest.flush()
    const { store } = api.service
    const audit = await store.read.selectFrom('audit_log').selectAll().execute()
    assert.ok(audit.length > 10)
    // The settings of a client may name its webhook by its host alone.
    assert.deepEqual(heldBy(JSON.stringify(audit), secrets), [])
    for (const table of [
      'api_tokens',
      'sign_ins',
      'user_links',
      'user_two_steps',
      'user_recovery_codes',
      'probes',
      'clients',
    ]) {
      await sql`alter table ${sql.table(table)} rename to ${sql.table(`${table}_gone`)}`.execute(store.write)
    }
    const before = lines.length
    const statuses = await useAll()
    assert.ok(statuses.filter((status) => status >= 500).length > 5, statuses.join())
    assert.ok(lines.length > before + 5, 'failures are logged')
    assert.deepEqual(heldBy(lines.join(''), secrets), [])
  },
)

test('a backup has none of them in its name, and what is hashed not in its bytes', async (t) => {
  const { api, place, secrets, useAll } = await openWithSecrets(t, sqlite)
  await useAll()
  await api.service.ingest.flush()
  const folder = await tempDir(t)
  const target = join(folder, 'tagwarden.db')
  const watchCopy = (_total: number, copy: (onProgress: () => undefined) => Promise<unknown>) => copy(() => undefined)
  const interruption = new AbortController().signal
  await backUpSqlite({ dataDir: place.DATA_DIR ?? '', target, watchCopy: watchCopy as never, interruption })
  const names = [...(await readdir(folder)), ...(await readdir(place.DATA_DIR ?? ''))]
  assert.deepEqual(heldBy(names.join('\n'), secrets), [])
  const bytes = await readFile(target, 'latin1')
  // They are used as they are: by tags and jobs of clients, and to work out codes.
  const kept = ['the ingest key', 'the push token', 'the secret of the app']
  assert.deepEqual(heldBy(bytes, secrets, kept), [])
  assert.deepEqual(heldBy(bytes, secrets).sort(), kept.toSorted())
})
