import * as parse from './config-values.ts'
import { parseOutboundAllow } from './outbound/index.ts'

/** One setting: how it is read, and what the docs say of it. `docs/configuration.md` is tested against this table. */
export interface Setting<T> {
  name: string
  /** As shown in the docs. */
  defaultText: string
  meaning: string
  /** May be given as `NAME_FILE`, a file that holds the value. */
  secret: boolean
  /** Turns the text (or `undefined` when unset) into the value, or throws an Error that says what is allowed. */
  parse: (text: string | undefined) => T
}

function setting<T>(
  name: string,
  defaultText: string,
  meaning: string,
  read: (text: string | undefined) => T,
  secret = false,
): Setting<T> {
  return { name, defaultText, meaning, secret, parse: read }
}

export const SETTINGS = {
  host: setting('HOST', '127.0.0.1', 'Listen address', parse.text('127.0.0.1')),
  port: setting('PORT', '8080', 'Listen port', parse.integer(8080, 0, 65_535)),
  dataDir: setting('DATA_DIR', './data', 'Where the embedded SQLite database lives', parse.text('./data')),
  databaseUrl: setting(
    'DATABASE_URL',
    'unset',
    '`postgres://user:password@host:5432/database` keeps everything in PostgreSQL instead of `DATA_DIR`; several hosts (`host1:5432,host2:5432`) are tried until one takes writes',
    parse.optional(parse.postgresUrl),
    true,
  ),
  databaseReadUrl: setting(
    'DATABASE_READ_URL',
    'unset',
    'A replica of it that reports are read from',
    parse.optional(parse.postgresUrl),
    true,
  ),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    '10',
    'Connections to PostgreSQL that this process opens at most; two more for the setup and for changes by others',
    parse.integer(10, 4, 200),
  ),
  role: setting(
    'ROLE',
    'all',
    'What this process does: `ingest` takes what tags send, `worker` does everything else (interface, reports, upkeep), `all` both. With one process (SQLite) it has to be `all`',
    parse.oneOf(['all', 'ingest', 'worker'], 'all'),
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    'http://HOST:PORT',
    'Address under which people and tags reach the service; used in links and on the setup page',
    parse.optional(parse.httpUrl),
  ),
  ingestKeyHeaders: setting(
    'INGEST_KEY_HEADERS',
    'X-Service-Key',
    'Comma list of accepted ingest key headers, so that tags written for another service work unchanged',
    parse.headerNames(['x-service-key']),
  ),
  defaultPlan: setting(
    'DEFAULT_PLAN',
    'free',
    'Plan of a new client',
    parse.oneOf(['free', 'pro', 'business', 'enterprise'], 'free'),
  ),
  adminToken: setting(
    'ADMIN_TOKEN',
    'unset',
    'Bearer token that reads and changes everything; it or ADMIN_EMAIL is needed to listen on an address other than loopback',
    parse.optional(parse.token),
    true,
  ),
  viewerToken: setting(
    'VIEWER_TOKEN',
    'unset',
    'Bearer token that reads, without ingest keys, webhooks and e-mail addresses; needs ADMIN_TOKEN',
    parse.optional(parse.token),
    true,
  ),
  adminEmail: setting(
    'ADMIN_EMAIL',
    'unset',
    'E-mail address of the first owner, instead of ADMIN_TOKEN: while no owner has set a password, each start logs a one-time link that does. From then on people sign in with accounts',
    parse.optional(parse.emailAddress),
  ),
  allowUnauthenticated: setting(
    'ALLOW_UNAUTHENTICATED',
    'unset',
    '`true` lets anyone who reaches the address manage everything; under names other than its own it answers no one',
    parse.flag,
  ),
  oidcIssuer: setting(
    'OIDC_ISSUER',
    'unset',
    'Address of an OpenID Connect provider that people sign in with, as its tokens name it; needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET. Register `PUBLIC_URL/api/oidc/callback` there, and `PUBLIC_URL/sign-in` for signing out',
    parse.optional(parse.issuerUrl),
  ),
  oidcClientId: setting(
    'OIDC_CLIENT_ID',
    'unset',
    'What the provider knows this service as',
    parse.optional((value) => value),
  ),
  oidcClientSecret: setting(
    'OIDC_CLIENT_SECRET',
    'unset',
    'Its secret at the provider',
    parse.optional(parse.token),
    true,
  ),
  oidcName: setting(
    'OIDC_NAME',
    'single sign-on',
    'What the button of the sign-in calls the provider: *Sign in with …*',
    (value) => parse.label(value ?? 'single sign-on'),
  ),
  oidcScopes: setting(
    'OIDC_SCOPES',
    'openid email profile',
    'What is asked of the provider; some need one more for groups',
    parse.scopes(['openid', 'email', 'profile']),
  ),
  oidcGroupsClaim: setting(
    'OIDC_GROUPS_CLAIM',
    'groups',
    "Where the provider's answer holds the groups of a person; `realm_access.roles` is the field of another",
    parse.text('groups'),
  ),
  oidcTrustEmail: setting(
    'OIDC_TRUST_EMAIL',
    'unset',
    '`true` takes addresses for verified of which the provider does not say so (`email_verified`), as of Microsoft Entra. Only where no one can choose their address there',
    parse.flag,
  ),
  groupRoles: setting(
    'GROUP_ROLES',
    'unset',
    'What groups of the provider may do: `admins: owner of all; acme team: editor of Acme, Acme Labs`, with names or ids of clients',
    parse.groupRoles,
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    'unset',
    'Comma list of proxy addresses or CIDRs whose `X-Forwarded-For` is trusted (to slow down failed sign-ins)',
    parse.proxies,
  ),
  outboundAllow: setting(
    'OUTBOUND_ALLOW',
    'unset',
    'Comma list of addresses, CIDRs and host names that probes and webhooks may reach although they are not on the open internet: `10.0.0.0/8,status.internal`',
    parseOutboundAllow,
  ),
  connectionCheckUrls: setting(
    'CONNECTION_CHECK_URLS',
    'https://www.google.com/generate_204,https://one.one.one.one/',
    'Comma list of up to five addresses that hardly ever fail, asked before a probe says that its target does not answer: when none of them does, it is the connection of this machine. They must answer without a redirect; `off` = ask no one',
    parse.urlsUnlessOff(['https://www.google.com/generate_204', 'https://one.one.one.one/']),
  ),
  chatWebhookUrl: setting(
    'CHAT_WEBHOOK_URL',
    'unset',
    'Chat webhook that receives the alerts of every client, and failures of Tagwarden itself',
    parse.optional(parse.webhookUrl),
    true,
  ),
  notifyWarningsAfterMinutes: setting(
    'NOTIFY_WARNINGS_AFTER_MINUTES',
    '30',
    'Minutes that a warning lasts before chats and e-mail are notified of it; what is over by then is in the dashboard and the digest alone. What is critical goes at once, and so does everything to webhooks, PagerDuty and Jira Service Management; 0 = warnings go at once, too',
    parse.integer(30, 0, 1_440),
  ),
  webhookSecret: setting(
    'WEBHOOK_SECRET',
    'unset',
    'Signs requests to webhooks that are no chat service, so that receivers can verify the sender',
    parse.optional(parse.token),
    true,
  ),
  smtpUrl: setting(
    'SMTP_URL',
    'unset',
    '`smtp://user:password@host:587` (STARTTLS) or `smtps://user:password@host:465` sends e-mail; unset = no e-mail',
    parse.optional(parse.smtpUrl),
    true,
  ),
  smtpFrom: setting(
    'SMTP_FROM',
    'unset',
    'Sender of e-mail: `alerts@example.com` or `Tagwarden <alerts@example.com>`; needed with SMTP_URL',
    parse.optional(parse.mailbox),
  ),
  heartbeatUrl: setting(
    'HEARTBEAT_URL',
    'unset',
    'Requested every minute while everything runs: a monitoring service that misses it can report that Tagwarden is down',
    parse.optional(parse.webhookUrl),
    true,
  ),
  keyEvents: setting(
    'KEY_EVENTS',
    'purchase,refund,begin_checkout,generate_lead',
    'Comma list of the events whose loss matters most, the most important first: what an incident costs is said of these first',
    parse.names(['purchase', 'refund', 'begin_checkout', 'generate_lead']),
  ),
  retentionMinuteDays: setting(
    'RETENTION_MINUTE_DAYS',
    '7',
    'Days that minute rows are kept before only hour rows remain',
    parse.integer(7, 2, 90),
  ),
  retentionHourDays: setting(
    'RETENTION_HOUR_DAYS',
    '400',
    'Days that hour rows are kept',
    parse.integer(400, 7, 3_650),
  ),
  retentionResultDays: setting(
    'RETENTION_RESULT_DAYS',
    '90',
    'Days that results of probes are kept, and not longer than 5,000 runs of the probe take',
    parse.integer(90, 1, 3_650),
  ),
  tagManagerBaseUrl: setting(
    'TAG_MANAGER_BASE_URL',
    'https://www.googletagmanager.com',
    'Where probes read `gtm.js` of web containers',
    parse.httpUrlOr('https://www.googletagmanager.com'),
  ),
  tagManagerApiUrl: setting(
    'TAG_MANAGER_API_URL',
    'https://tagmanager.googleapis.com',
    'Tag Manager API, for the published version of server containers',
    parse.httpUrlOr('https://tagmanager.googleapis.com'),
  ),
  googleCredentials: setting(
    'GOOGLE_CREDENTIALS',
    'unset',
    'JSON key of a service account that may read Tag Manager, the warehouses and GA4; `GOOGLE_CREDENTIALS_FILE` is the path of its file',
    parse.optional(parse.googleCredentials),
    true,
  ),
  warehouseApiUrl: setting(
    'WAREHOUSE_API_URL',
    'https://bigquery.googleapis.com',
    'BigQuery REST endpoint',
    parse.httpUrlOr('https://bigquery.googleapis.com'),
  ),
  ga4ApiUrl: setting(
    'GA4_API_URL',
    'https://analyticsdata.googleapis.com',
    'Google Analytics Data API, for what GA4 counted',
    parse.httpUrlOr('https://analyticsdata.googleapis.com'),
  ),
  metaApiUrl: setting(
    'META_API_URL',
    'https://graph.facebook.com/v25.0',
    'Graph API of Meta with its version, for the quality of datasets',
    parse.httpUrlOr('https://graph.facebook.com/v25.0'),
  ),
  hostingAApiUrl: setting(
    'HOSTING_A_API_URL',
    'https://api.app.stape.io/api/v2',
    'API of hosting provider A (Stape)',
    parse.httpUrlOr('https://api.app.stape.io/api/v2'),
  ),
  hostingAToken: setting('HOSTING_A_TOKEN', 'unset', 'Its API key', parse.optional(parse.token), true),
  hostingBStatusUrl: setting(
    'HOSTING_B_STATUS_URL',
    'unset',
    'Where hosting provider B reports the status of a container, with `{container_id}` in it',
    parse.optional(parse.containerUrl),
  ),
  hostingBToken: setting('HOSTING_B_TOKEN', 'unset', 'Sent to it as a bearer token', parse.optional(parse.token), true),
  metricsPerSite: setting(
    'METRICS_PER_SITE',
    'auto',
    'Whether `/metrics` has figures of each site and tag: `auto` (up to 1,000 sites), `on` or `off`',
    parse.oneOf(['auto', 'on', 'off'], 'auto'),
  ),
  mcp: setting(
    'MCP',
    'on',
    'Whether AI assistants can call tools at `/mcp`, with the key of whoever uses them: `on` or `off`',
    parse.oneOf(['on', 'off'], 'on'),
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'How much is logged: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    parse.oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  ),
} satisfies Record<string, Setting<unknown>>
