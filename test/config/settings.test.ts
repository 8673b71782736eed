import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  asksForAccounts,
  type Config,
  type Environment,
  hasRole,
  readConfig,
  wideProxyAddress,
} from '../../src/config.ts'
import { parseOutboundAllow } from '../../src/outbound/index.ts'
import { refusalOf } from './support.ts'

const ADMIN = 'admin-token-0123456789'
const VIEWER = 'viewer-token-0123456789'

test('an empty environment gives the defaults', () => {
  const defaults: Config = {
    host: '127.0.0.1',
    port: 8080,
    dataDir: './data',
    databaseUrl: null,
    databaseReadUrl: null,
    databasePoolSize: 10,
    role: 'all',
    publicUrl: null,
    ingestKeyHeaders: ['x-service-key'],
    defaultPlan: 'free',
    adminToken: null,
    viewerToken: null,
    adminEmail: null,
    allowUnauthenticated: false,
    oidcIssuer: null,
    oidcClientId: null,
    oidcClientSecret: null,
    oidcName: 'single sign-on',
    oidcScopes: ['openid', 'email', 'profile'],
    oidcGroupsClaim: 'groups',
    oidcTrustEmail: false,
    groupRoles: [],
    proxyEmailHeader: null,
    proxyNameHeader: null,
    proxyGroupsHeader: null,
    proxyAddresses: [],
    proxySignOutUrl: null,
    trustProxy: [],
    outboundAllow: { ranges: [], hosts: [] },
    connectionCheckUrls: ['https://www.google.com/generate_204', 'https://one.one.one.one/'],
    chatWebhookUrl: null,
    notifyWarningsAfterMinutes: 30,
    webhookSecret: null,
    smtpUrl: null,
    smtpFrom: null,
    heartbeatUrl: null,
    keyEvents: ['purchase', 'refund', 'begin_checkout', 'generate_lead'],
    retentionMinuteDays: 7,
    retentionHourDays: 400,
    retentionResultDays: 90,
    retentionAuditDays: 730,
    tagManagerBaseUrl: 'https://www.googletagmanager.com',
    tagManagerApiUrl: 'https://tagmanager.googleapis.com',
    googleCredentials: null,
    warehouseApiUrl: 'https://bigquery.googleapis.com',
    ga4ApiUrl: 'https://analyticsdata.googleapis.com',
    metaApiUrl: 'https://graph.facebook.com/v25.0',
    hostingAApiUrl: 'https://api.app.stape.io/api/v2',
    hostingAToken: null,
    hostingBStatusUrl: null,
    hostingBToken: null,
    metricsPerSite: 'auto',
    mcp: 'on',
    logLevel: 'info',
  }
  assert.deepEqual(readConfig({}), defaults)
})

test('empty and blank values count as unset', () => {
  const names = ['HOST', 'PORT', 'DATA_DIR', 'PUBLIC_URL', 'ADMIN_TOKEN', 'ADMIN_TOKEN_FILE', 'ALLOW_UNAUTHENTICATED']
  for (const value of ['', '  ']) {
    assert.deepEqual(readConfig(Object.fromEntries(names.map((name) => [name, value]))), readConfig({}))
  }
})

const TAKEN: readonly [environment: Environment, values: Partial<Config>][] = [
  [{ PORT: '0' }, { port: 0 }],
  [{ PORT: '65535' }, { port: 65_535 }],
  [{ KEY_EVENTS: 'order, lead ' }, { keyEvents: ['order', 'lead'] }],
  [{ DATA_DIR: ' /srv/data ' }, { dataDir: '/srv/data' }],
  [
    { SMTP_URL: 'smtp://user:secret@mail.example.com:587', SMTP_FROM: 'Tagwarden <alerts@example.com>' },
    { smtpUrl: 'smtp://user:secret@mail.example.com:587', smtpFrom: 'Tagwarden <alerts@example.com>' },
  ],
  [{ SMTP_FROM: 'alerts@example.com' }, { smtpFrom: 'alerts@example.com' }],
  [
    { CHAT_WEBHOOK_URL: 'https://hooks.example.com/T0/B0/key?thread=1' },
    { chatWebhookUrl: 'https://hooks.example.com/T0/B0/key?thread=1' },
  ],
  [{ HEARTBEAT_URL: 'https://beat.example.com/key' }, { heartbeatUrl: 'https://beat.example.com/key' }],
  [
    { PUBLIC_URL: 'https://tags.example.com/', ADMIN_TOKEN: ADMIN },
    { publicUrl: 'https://tags.example.com', adminToken: ADMIN },
  ],
  [{ PUBLIC_URL: 'http://localhost:8080/base//' }, { publicUrl: 'http://localhost:8080/base' }],
  [{ INGEST_KEY_HEADERS: 'X-Service-Key, X-Other-Key ,,' }, { ingestKeyHeaders: ['x-service-key', 'x-other-key'] }],
  [{ INGEST_KEY_HEADERS: ',' }, { ingestKeyHeaders: ['x-service-key'] }],
  [{ DEFAULT_PLAN: 'enterprise' }, { defaultPlan: 'enterprise' }],
  [{ ALLOW_UNAUTHENTICATED: 'true' }, { allowUnauthenticated: true }],
  [{ ALLOW_UNAUTHENTICATED: 'false' }, { allowUnauthenticated: false }],
  [
    {
      OIDC_ISSUER: 'https://login.example.com/realms/agency',
      OIDC_CLIENT_ID: 'tagwarden',
      OIDC_CLIENT_SECRET: 'secret-of-the-client-0123456789',
      OIDC_SCOPES: 'openid, email groups',
      HOST: '0.0.0.0',
    },
    {
      oidcIssuer: 'https://login.example.com/realms/agency',
      oidcClientId: 'tagwarden',
      oidcClientSecret: 'secret-of-the-client-0123456789',
      oidcScopes: ['openid', 'email', 'groups'],
      host: '0.0.0.0',
    },
  ],
  [
    { GROUP_ROLES: 'urn:x:admins: owner of all; acme team :editor of Acme, House of Tea;;' },
    {
      groupRoles: [
        { group: 'urn:x:admins', role: 'owner', clients: null },
        { group: 'acme team', role: 'editor', clients: ['Acme', 'House of Tea'] },
      ],
    },
  ],
  [
    { TRUST_PROXY: '10.0.0.0/8, 127.0.0.1', ADMIN_TOKEN: ADMIN },
    { trustProxy: ['10.0.0.0/8', '127.0.0.1'], adminToken: ADMIN },
  ],
  [
    { RETENTION_MINUTE_DAYS: '2', RETENTION_HOUR_DAYS: '3650' },
    { retentionMinuteDays: 2, retentionHourDays: 3_650 },
  ],
  [
    { OUTBOUND_ALLOW: '10.0.0.0/8, Status.internal' },
    { outboundAllow: parseOutboundAllow('10.0.0.0/8,status.internal') },
  ],
  [{ CONNECTION_CHECK_URLS: 'off' }, { connectionCheckUrls: [] }],
  [
    { CONNECTION_CHECK_URLS: 'https://a.example/up, http://10.0.0.1/' },
    { connectionCheckUrls: ['https://a.example/up', 'http://10.0.0.1/'] },
  ],
  [{ RETENTION_RESULT_DAYS: '1' }, { retentionResultDays: 1 }],
  [{ RETENTION_AUDIT_DAYS: '3650' }, { retentionAuditDays: 3_650 }],
  [{ TAG_MANAGER_BASE_URL: 'http://127.0.0.1:9090/' }, { tagManagerBaseUrl: 'http://127.0.0.1:9090' }],
  [{ GA4_API_URL: 'https://ga4.example/' }, { ga4ApiUrl: 'https://ga4.example' }],
  [{ META_API_URL: 'https://graph.example/v26.0/' }, { metaApiUrl: 'https://graph.example/v26.0' }],
  [{ HOSTING_A_API_URL: 'https://eu.example/api/v2' }, { hostingAApiUrl: 'https://eu.example/api/v2' }],
  [
    { HOSTING_B_STATUS_URL: 'https://b.example/{container_id}/status' },
    { hostingBStatusUrl: 'https://b.example/{container_id}/status' },
  ],
  [
    { GOOGLE_CREDENTIALS: '{"type":"service_account","client_email":"a@b.example","private_key":"pem"}' },
    {
      googleCredentials: {
        client_email: 'a@b.example',
        private_key: 'pem',
        token_uri: 'https://oauth2.googleapis.com/token',
      },
    },
  ],
  [{ METRICS_PER_SITE: 'off' }, { metricsPerSite: 'off' }],
  [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
  [
    { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER },
    { adminToken: ADMIN, viewerToken: VIEWER },
  ],
]
for (const [environment, values] of TAKEN) {
  test(`taken: ${JSON.stringify(environment)}`, () => {
    assert.deepEqual(readConfig(environment), { ...readConfig({}), ...values })
  })
}

const REFUSED: readonly [name: string, values: readonly string[], allowed: RegExp][] = [
  [
    'OIDC_ISSUER',
    [
      'login.example.com',
      'http://login.example.com',
      'ftp://x.example',
      'https://x.example/?tenant=1',
      'https://me@x.example',
    ],
    / must be an https address like [^ ]*$/,
  ],
  ['OIDC_SCOPES', ['email', 'openid "x"'], /with openid in it$/],
  [
    'GROUP_ROLES',
    ['admins', 'admins: owner', 'admins: boss of all', 'admins: owner of', ': owner of all', 'a: owner of ,'],
    / must be rules like "admins: owner of all; .*" is not one$/,
  ],
  [
    'PROXY_EMAIL_HEADER',
    ['x email', 'Authorization', 'cookie', 'X-Forwarded-For', 'x-forwarded-host', 'Host', 'origin'],
    / must be the name of a header that only the proxy sets, /,
  ],
  [
    'TRUST_PROXY',
    ['proxy.internal', '10.0.0.1/33', '10.0.0.0/', '0.0.0.0/0', '::/00'],
    /; \/0 would trust every caller$/,
  ],
  [
    'PROXY_ADDRESSES',
    ['proxy.internal', 'loopback', 'uniquelocal', '0.0.0.0/0', '::/0', '10.0.0.1/33'],
    / must be addresses and CIDR ranges /,
  ],
  ['PROXY_SIGN_OUT_URL', ['/oauth2/sign_out', 'javascript:alert(1)'], / must be an address like [^ ]*$/],
  ['OIDC_NAME', ['x'.repeat(61)], / must have at most 60 characters$/],
  ['OIDC_NAME', ['Agency\nlogin', '\u202eygoL', 'Agency\u2028login'], / must be one line without control characters /],
  [
    'CONNECTION_CHECK_URLS',
    ['no', 'ftp://a.example', ',', 'https://a.example,b', Array(6).fill('https://a.example/').join(',')],
    / must be up to 5 addresses .* or off$/,
  ],
  ['PORT', ['http', '-1', '65536', '80.5', '0x50', '1e3', '9999999999'], / must be a whole number from 0 to 65535$/],
  [
    'PUBLIC_URL',
    [
      'tags.example.com',
      'ftp://a.example',
      'https://a.example/?b=c',
      'https://a.example/#b',
      'https://',
      'https://ada@a.example',
    ],
    / must be an address like https:\/\/tagwarden\.example\.com$/,
  ],
  ['INGEST_KEY_HEADERS', ['X Key', 'x-key:', 'ключ', 'a,b/c'], / must be header names separated by commas$/],
  ['DEFAULT_PLAN', ['Free', 'gold'], / must be one of free, pro, business, enterprise$/],
  [
    'OUTBOUND_ALLOW',
    ['10.0.0.0/33', '*.internal', '127.1', 'localhost:80'],
    /^OUTBOUND_ALLOW=.* must be host names, addresses and CIDR ranges separated by commas .*: "[^"]+" is none of them$/,
  ],
  ['ROLE', ['ALL', 'api'], / must be one of all, ingest, worker$/],
  ['ALLOW_UNAUTHENTICATED', ['1', 'yes', 'TRUE'], / must be true or false$/],
  ['RETENTION_MINUTE_DAYS', ['1', '91', 'week'], / must be a whole number from 2 to 90$/],
  ['RETENTION_HOUR_DAYS', ['6', '3651', '1 year'], / must be a whole number from 7 to 3650$/],
  ['RETENTION_RESULT_DAYS', ['0', '3651'], / must be a whole number from 1 to 3650$/],
  ['RETENTION_AUDIT_DAYS', ['29', '3651'], / must be a whole number from 30 to 3650$/],
  ['WAREHOUSE_API_URL', ['bigquery.example', 'ftp://a.example'], / must be an address like https:\/\/[^ ]*$/],
  [
    'HOSTING_B_STATUS_URL',
    ['https://b.example/status', 'ftp://b.example/{container_id}', '{container_id}'],
    / must be an address like https:\/\/host\.example\.com\/status\/\{container_id\}$/,
  ],
  [
    'SMTP_FROM',
    ['nobody', 'a b@c.example', 'Name <a@b.example', 'a@b.example\nBcc: c@d.example'],
    / must be an address like alerts@example\.com or Tagwarden <alerts@example\.com>$/,
  ],
  ['LOG_LEVEL', ['verbose', 'INFO'], / must be one of fatal, error, warn, info, debug, trace, silent$/],
]
for (const [name, values, allowed] of REFUSED) {
  for (const value of values) {
    test(`refused by name, value and what is allowed: ${name}=${value}`, () => {
      const line = refusalOf({ [name]: value })
      assert.ok(line.startsWith(`${name}=${JSON.stringify(value)} must `), line)
      assert.match(line, allowed)
    })
  }
}

test('an identity provider needs all that it is asked with', () => {
  const issuer = { OIDC_ISSUER: 'https://login.example.com' }
  assert.match(refusalOf(issuer), /^OIDC_ISSUER is set without OIDC_CLIENT_ID: /)
  assert.match(
    refusalOf({ ...issuer, OIDC_CLIENT_ID: 'tagwarden' }),
    /^OIDC_ISSUER is set without OIDC_CLIENT_SECRET: /,
  )
  assert.match(refusalOf({ OIDC_CLIENT_ID: 'tagwarden' }), /^OIDC_CLIENT_ID is set without OIDC_ISSUER: /)
})

test('a proxy that signs people in is known by its address, and by a header of its own', () => {
  const header = { PROXY_EMAIL_HEADER: 'X-Forwarded-Email' }
  const whole = { ...header, PROXY_ADDRESSES: '10.0.0.7, fd00:7::/64' }
  assert.match(refusalOf(header), /^PROXY_EMAIL_HEADER is set without PROXY_ADDRESSES: /)
  for (const name of ['PROXY_NAME_HEADER', 'PROXY_GROUPS_HEADER']) {
    assert.match(refusalOf({ [name]: 'X-Other' }), new RegExp(`^${name} is set without PROXY_EMAIL_HEADER: `))
    assert.match(refusalOf({ ...whole, [name]: 'x-forwarded-EMAIL' }), /must name different headers$/)
  }
  assert.match(refusalOf({ PROXY_ADDRESSES: '10.0.0.7' }), /^PROXY_ADDRESSES is set without PROXY_EMAIL_HEADER: /)
  assert.match(refusalOf({ PROXY_SIGN_OUT_URL: 'https://a.example' }), /^PROXY_SIGN_OUT_URL is set without /)
  const config = readConfig({ ...whole, PUBLIC_URL: 'https://tagwarden.example.com', HOST: '0.0.0.0' })
  assert.equal(config.proxyEmailHeader, 'x-forwarded-email')
  assert.deepEqual(config.proxyAddresses, ['10.0.0.7', 'fd00:7::/64'])
  assert.ok(asksForAccounts(config))
  for (const [range, isWide] of [
    ['10.0.0.0/8', true],
    ['172.18.0.0/16', false],
    ['10.1.2.3', false],
    ['fd00::/8', true],
    ['fd00:7::/64', false],
  ] as const) {
    assert.equal(wideProxyAddress(readConfig({ ...header, PROXY_ADDRESSES: range })), isWide ? range : null)
  }
})

test('an e-mail server needs a sender', () => {
  assert.match(refusalOf({ SMTP_URL: 'smtp://mail.example.com' }), /^SMTP_URL is set without SMTP_FROM: /)
})

test('addresses that may hold a secret are checked, and never shown', () => {
  for (const [name, value] of [
    ['SMTP_URL', 'mail.example.com:587'],
    ['SMTP_URL', 'https://user:hunter2@mail.example.com'],
    ['CHAT_WEBHOOK_URL', 'hooks.example.com/hunter2'],
    ['HEARTBEAT_URL', 'ftp://beat.example.com/hunter2'],
    ['PUBLIC_URL', 'https://:hunter2@watch.example.com'],
    ['PUBLIC_URL', 'https://ada:hunter2@watch.example.com'],
  ] as const) {
    const line = refusalOf({ [name]: value })
    assert.match(line, new RegExp(`^${name} must be an address like .*$`))
    assert.ok(!line.includes('hunter2'), line)
  }
})

test('a process that has its database to itself has every role', () => {
  assert.match(refusalOf({ ROLE: 'worker' }), /^ROLE=worker is set without DATABASE_URL: /)
  const parts = (ROLE: string) => {
    const config = readConfig({ ROLE, DATABASE_URL: 'postgres://tagwarden@db/tagwarden' })
    return { ingest: hasRole(config, 'ingest'), worker: hasRole(config, 'worker') }
  }
  assert.deepEqual(parts('all'), { ingest: true, worker: true })
  assert.deepEqual(parts('ingest'), { ingest: true, worker: false })
  assert.deepEqual(parts('worker'), { ingest: false, worker: true })
})
