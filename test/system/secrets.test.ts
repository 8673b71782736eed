import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { type Answer, apiClient, bearer } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, type TestEngine, tempDir, testPerEngine } from '../../testkit/engines.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { rowsByTable } from '../../testkit/postgres/contents.ts'
import { runCli, startCli } from '../../testkit/processes/command-line.ts'
import { READY } from '../../testkit/processes/server-process.ts'
import { until } from '../../testkit/until.ts'
import { login, mailServer } from '../notifications/email/smtp-server.ts'

/** Values that nothing else looks like, so that a search finds them wherever they turn up. */
const SECRETS = {
  ADMIN_TOKEN: 'zq1-admin-token-8f41c07ab3',
  VIEWER_TOKEN: 'zq2-viewer-token-55d0be91f7',
  WEBHOOK_SECRET: 'zq3-webhook-secret-0c6a2e4d',
  HOSTING_A_TOKEN: 'zq4-hosting-a-token-7b19fe02',
  HOSTING_B_TOKEN: 'zq5-hosting-b-token-e3387a6c',
}
const SMTP_PASSWORD = 'zq6-smtp-password-41aa'
const CHAT_PATH = 'zq7-chat-path-99b2'
const HEARTBEAT_PATH = 'zq8-heartbeat-path-0f7d'
const CLIENT_WEBHOOK_PATH = 'zq9-client-webhook-c1d2'
const PROBE_TOKEN = 'zq10-token-of-a-probe-77aa'
const IDEMPOTENCY_KEY = 'zq11-idempotency-key'
const WRONG_TOKEN = 'zq12-wrong-token-0123456789'
const WRONG_KEY = 'zq13-wrong-ingest-key'
const ADDRESS = 'zq14-somebody@example.com'
const QUERY_TOKEN = 'zq15-token-in-a-query'
const BODY_TEXT = 'zq16-text-in-a-body'
const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

/** Servers that refuse everything, each in the way that says most. */
async function failingSurroundings(t: TestContext): Promise<Record<string, string>> {
  const asked = await startAnswering(t, (request, response) => {
    // What comes back holds all that was sent, as some services do it.
    response.statusCode = request.url?.includes('token') === true ? 403 : 500
    response.end(JSON.stringify({ error: 'refused', url: request.url, headers: request.headers }))
  })
  const mail = await mailServer(t, { onAuth: login, allowInsecureAuth: true })
  return {
    ...SECRETS,
    LOG_LEVEL: 'trace',
    PORT: '0',
    OUTBOUND_ALLOW: '127.0.0.1',
    CHAT_WEBHOOK_URL: `${asked}/services/${CHAT_PATH}?token=${CHAT_PATH}`,
    HEARTBEAT_URL: `${asked}/ping/${HEARTBEAT_PATH}`,
    SMTP_URL: `smtp://user:${SMTP_PASSWORD}@127.0.0.1:${mail.port}`,
    SMTP_FROM: 'alerts@example.com',
    GOOGLE_CREDENTIALS: JSON.stringify({
      client_email: 'reader@project.iam.example',
      private_key: PRIVATE_KEY,
      token_uri: `${asked}/token`,
    }),
    TAG_MANAGER_BASE_URL: asked,
    TAG_MANAGER_API_URL: asked,
    WAREHOUSE_API_URL: asked,
    GA4_API_URL: asked,
    META_API_URL: asked,
    HOSTING_A_API_URL: asked,
    HOSTING_B_STATUS_URL: `${asked}/status/{container_id}`,
    asked,
  }
}

/** Ends the database under the service, so that it logs all it knows of it; SQLite has no connection to lose. */
async function takeDatabaseAway(connectionString: string): Promise<void> {
  const elsewhere = new URL(connectionString)
  const name = elsewhere.pathname.slice(1)
  elsewhere.pathname = 'postgres'
  const client = new pg.Client({ connectionString: elsewhere.href })
  await client.connect()
  await client.query(`alter database ${name} with allow_connections false`)
  // An autovacuum worker, which is no one's, only a superuser may end.
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = user', [
    name,
  ])
  await client.end()
}

/** The bytes of every file, with what was deleted and not yet written over. */
const filesOf = async (folder: string): Promise<string[]> =>
  Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'latin1')))

async function sendRaw(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(request)
  return text(socket).catch(() => '')
}

testPerEngine(
  'no secret is revealed: not in the log, nor in metrics, settings or errors',
  async (engine: TestEngine, t) => {
    const { asked = '', ...environment } = await failingSurroundings(t)
    const place = await placeFor(engine, t)
    const { DATABASE_URL } = place
    const server = await startCli(t, ['serve'], {
      ...environment,
      ...place,
      DATA_DIR: place.DATA_DIR ?? (await tempDir(t)),
    })
    const url = await server.printed(READY)
    const { call } = apiClient(url)
    const admin = bearer(SECRETS.ADMIN_TOKEN)
    const viewer = bearer(SECRETS.VIEWER_TOKEN)
    const seen: string[] = []
    /** What the caller has no right to know of, or has sent itself. */
    const asStranger = async (...request: Parameters<typeof call>): Promise<Answer> => {
      const answer = await call(...request)
      seen.push(answer.text, JSON.stringify([...answer.headers]))
      return answer
    }
    const create = async <T>(path: string, body?: unknown): Promise<T> => {
      const answer = await call('POST', path, body, admin)
      assert.ok(answer.status < 300, answer.text)
      return answer.json<T>()
    }

    const client = await create<{ id: string }>('/api/clients', {
      name: 'Acme',
      email: ADDRESS,
      chat_webhook: `${asked}/services/${CLIENT_WEBHOOK_PATH}`,
    })
    const site = await create<{ id: string; ingest_key: string }>('/api/sites', {
      analytics_property_id: '123456789',
      client_id: client.id,
      name: 'shop',
      url: asked,
      tag_server_url: asked,
      tag_manager_server_container_id: 'GTM-ABC1234',
      hosting_a_container_id: 'one',
      hosting_b_container_id: 'two',
      warehouse_project: 'project',
      warehouse_dataset: 'dataset',
    })
    const { token: statusToken } = await create<{ token: string }>(`/api/clients/${client.id}/status-link`)
    const signedIn = await call('POST', '/api/session', { token: SECRETS.ADMIN_TOKEN }, { origin: url })
    const [, session = ''] = /=([^;]+);/.exec(signedIn.headers.get('set-cookie') ?? '') ?? []
    assert.ok(session.length > 16)

    const ingestKey = { 'x-service-key': site.ingest_key, 'idempotency-key': IDEMPOTENCY_KEY }
    const event = eventPayload({ timestamp_ms: Date.now() })
    assert.equal((await asStranger('POST', '/ingest', event, ingestKey)).status, 200)
    for (const body of ['{', { ...event, user_data: { has_email: BODY_TEXT } }, `"${BODY_TEXT}`]) {
      assert.equal((await asStranger('POST', '/ingest', body, ingestKey)).status, 400)
    }
    assert.equal((await asStranger('POST', '/ingest', event, { 'x-service-key': WRONG_KEY })).status, 401)
    for (const [path, headers] of [
      ['/api/sites', bearer(WRONG_TOKEN)],
      [`/api/sites?token=${QUERY_TOKEN}`, {}],
      [`/api/sites?token=${QUERY_TOKEN}`, admin],
      ['/api/sites', { cookie: `session=${session}x` }],
      ['/api/session', { cookie: `session=${session}` }],
      ['/api/status/wrong', {}],
    ] as const) {
      await asStranger('GET', path, undefined, headers)
    }
    assert.equal((await call('GET', `/api/status/${statusToken}`)).status, 200)
    for (const body of [`{"name": "${BODY_TEXT}`, { name: 7, email: 'no address', chat_webhook: 'none' }]) {
      assert.equal((await asStranger('POST', '/api/clients', body, admin)).status, 400)
    }
    for (const [name, value] of Object.entries({ authorization: WRONG_TOKEN, cookie: session })) {
      seen.push(await sendRaw(url, `GET /api/sites HTTP/1.1\r\n${name}: ${value}\r\nBad Header\r\n\r\n`))
      seen.push(await sendRaw(url, `GET /api/sites HTTP/1.1\r\nHost: x\r\n${name}: ${value.repeat(1_000)}\r\n\r\n`))
    }

    const pushTokens: string[] = []
    await call('POST', `/api/clients/${client.id}/test-notification`, {}, admin)
    for (const [probe_type, config] of [
      ['tag_server_infra', { hosting_a_workspace: 'w', hosting_a_token: PROBE_TOKEN, hosting_b_token: PROBE_TOKEN }],
      ['tag_server_infra', { hosting_a_workspace: 'w' }],
      ['meta_quality', { dataset_id: '1234567890', access_token: PROBE_TOKEN }],
      ['image_version', { hosting_a_token: PROBE_TOKEN }],
      ['image_version', { version_url: 'https://127.0.0.1:9/', version_token: PROBE_TOKEN }],
      ['warehouse_events', {}],
      ['ga4_counts', { events: ['purchase'] }],
      ['tag_manager_version', {}],
      ['http_health', {}],
      ['push', {}],
    ] as const) {
      const probe = await create<{ id: string }>('/api/probes', {
        site_id: site.id,
        probe_type,
        name: probe_type + Object.keys(config).length,
        config,
      })
      // It may be running by itself at this moment.
      await until('the probe is run on request', async () => {
        const run = await asStranger('POST', `/api/probes/${probe.id}/run`, undefined, admin)
        assert.ok(run.status < 300 || run.status === 409, run.text)
        return run.status === 409 ? undefined : true
      })
      for (const what of ['results', 'push'])
        await asStranger('GET', `/api/probes/${probe.id}/${what}`, undefined, viewer)
      if (probe_type === 'push') {
        const before = await create<{ token: string }>(`/api/probes/${probe.id}/push/new-address`)
        const { token } = await create<{ token: string }>(`/api/probes/${probe.id}/push/new-address`)
        pushTokens.push(before.token, token)
        for (const address of [
          `/push/${before.token}`,
          `/push/${token}`,
          `/push/${token}/start`,
          `/push/${token}?status=bad`,
        ]) {
          await asStranger('POST', address, { message: 'fine' })
        }
        const long = `/push/${token}?message=${'x'.repeat(20_000)}`
        assert.equal((await call('GET', long)).status, 431)
      }
    }
    // Messages of alerts are gathered for half a minute. What is said of those that fail is the same on both engines.
    if (DATABASE_URL === undefined) {
      await until('a message has failed over every channel', async () => {
        const { json } = await call('GET', '/api/deliveries', undefined, admin)
        return json<{ attempts: number }[]>().filter(({ attempts }) => attempts > 0).length >= 3 ? true : undefined
      })
    }
    await until('the heartbeat has failed', () =>
      server.out.some((line) => /HEARTBEAT_URL/.test(line)) ? true : undefined,
    )

    for (const path of [
      ...['/metrics', '/health', '/ready', '/api/openapi.json', '/api/docs/', `/badge/${site.id}.svg`],
      ...[
        '/api/settings',
        '/api/clients',
        '/api/sites',
        '/api/channels',
        '/api/deliveries',
        '/api/audit',
        '/api/probes',
      ],
      ...['/api/alerts', '/api/nodes', '/api/dashboard/overview', `/api/clients/${client.id}`, `/api/sites/${site.id}`],
      ...[`/api/clients/${client.id}/status-link`, `/api/monitoring/sites/${site.id}/recent`],
    ]) {
      await asStranger('GET', path, undefined, viewer)
    }
    seen.push((await call('GET', '/api/settings', undefined, admin)).text)
    const kept: string[] = DATABASE_URL === undefined ? [] : [...(await rowsByTable(DATABASE_URL)).values()].flat()
    if (DATABASE_URL !== undefined) {
      await takeDatabaseAway(DATABASE_URL)
      await until('it is logged that the database is unavailable', () =>
        server.out.some((line) => /"level":50.*(terminat|not currently accepting|connect)/.test(line))
          ? true
          : undefined,
      )
      for (const path of ['/ready', '/metrics', '/api/sites']) await asStranger('GET', path, undefined, admin)
      await asStranger('POST', '/ingest', event, ingestKey)
    }
    server.child.kill('SIGTERM')
    const { out, err } = await server.finished
    assert.ok(out.length > 5)
    if (place.DATA_DIR !== undefined) kept.push(...(await filesOf(place.DATA_DIR)))

    const hidden = [
      ...Object.values(SECRETS),
      ...[SMTP_PASSWORD, CHAT_PATH, HEARTBEAT_PATH, CLIENT_WEBHOOK_PATH, PROBE_TOKEN, IDEMPOTENCY_KEY],
      ...[WRONG_TOKEN, WRONG_KEY, ADDRESS, QUERY_TOKEN, BODY_TEXT],
      ...[site.ingest_key, session, statusToken, ...pushTokens],
      ...(DATABASE_URL === undefined ? [] : [new URL(DATABASE_URL).password]),
      ...PRIVATE_KEY.split('\n').filter((line) => line.length > 40),
    ]
    assert.ok(hidden.every((secret) => secret.length >= 16))
    const found = [...out, ...err, ...seen].filter((line) => hidden.some((secret) => line.includes(secret)))
    assert.deepEqual(found, [])

    const ofEnvironment = [
      ...[...Object.values(SECRETS), SMTP_PASSWORD, CHAT_PATH, HEARTBEAT_PATH, session],
      ...PRIVATE_KEY.split('\n').filter((line) => line.length > 40),
    ]
    assert.ok(kept.some((text) => text.includes(site.ingest_key)))
    assert.deepEqual(
      ofEnvironment.filter((secret) => kept.some((text) => text.includes(secret))),
      [],
      'no secret of the environment is in the database',
    )
  },
  logicEngines,
)

test('a start that fails reveals no secret either', async (t) => {
  const wrong: Record<string, string> = {
    DATABASE_URL: `mysql://user:${SMTP_PASSWORD}@127.0.0.1:9/database`,
    SMTP_URL: `http://user:${SMTP_PASSWORD}@mail.example`,
    ADMIN_TOKEN: `${SMTP_PASSWORD} with a space`,
    VIEWER_TOKEN: SMTP_PASSWORD,
    CHAT_WEBHOOK_URL: `ftp://${SMTP_PASSWORD}`,
    HEARTBEAT_URL: SMTP_PASSWORD,
    GOOGLE_CREDENTIALS: `{"private_key":"${SMTP_PASSWORD}"}`,
    HOSTING_A_TOKEN: `${SMTP_PASSWORD}\u00e9`,
  }
  for (const [name, value] of Object.entries(wrong)) {
    const { code, out, err } = await runCli(t, ['serve'], { PORT: '0', [name]: value })
    assert.equal(code, 1, name)
    assert.match(err.join('\n'), new RegExp(name))
    assert.ok(![...out, ...err].join('\n').includes(SMTP_PASSWORD), name)
  }
})
