import { readFileSync } from 'node:fs'
import * as parse from './config-values.ts'
import { parseOutboundAllow, StartupError } from './lib/index.ts'

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
    'Connections to PostgreSQL that this process opens at most; two more for the set-up and for changes by others',
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
    'Address under which people and tags reach the service; used in links and on the set-up page',
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
    'Bearer token that reads and changes everything; needed to listen on an address other than loopback',
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
  allowUnauthenticated: setting(
    'ALLOW_UNAUTHENTICATED',
    'unset',
    '`true` lets anyone who reaches the address manage everything',
    parse.flag,
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    'unset',
    'Comma list of proxy addresses or CIDRs whose `X-Forwarded-For` is believed (for the slowing down of failed sign-ins)',
    parse.proxies,
  ),
  outboundAllow: setting(
    'OUTBOUND_ALLOW',
    'unset',
    'Comma list of addresses, CIDRs and host names that probes and webhooks may reach although they are not on the open internet: `10.0.0.0/8,status.internal`',
    parseOutboundAllow,
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
    'JSON key of a service account that may read Tag Manager and the warehouses; `GOOGLE_CREDENTIALS_FILE` is the path of its file',
    parse.optional(parse.googleCredentials),
    true,
  ),
  warehouseApiUrl: setting(
    'WAREHOUSE_API_URL',
    'https://bigquery.googleapis.com',
    'BigQuery REST endpoint',
    parse.httpUrlOr('https://bigquery.googleapis.com'),
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
    'Where hosting provider B tells the status of a container, with `{container_id}` in it',
    parse.optional(parse.containerUrl),
  ),
  hostingBToken: setting('HOSTING_B_TOKEN', 'unset', 'Sent to it as a bearer token', parse.optional(parse.token), true),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'How much is logged: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    parse.oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  ),
} satisfies Record<string, Setting<unknown>>

type Settings = { [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['parse']> }

export interface Config extends Settings {
  /** `PUBLIC_URL` without a slash at its end, or null to take the address listened on. */
  publicUrl: string | null
}

/** Whether this process does that part of the work: `ingest` takes what tags send, `worker` does everything else. */
export const hasRole = (config: Config, part: 'ingest' | 'worker'): boolean =>
  config.role === 'all' || config.role === part

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The configuration from the environment; nothing else in the program reads it.
 *
 * @throws StartupError naming the variable, its value (not that of a secret) and what is allowed.
 */
export function readConfig(environment: Environment): Config {
  const values: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(SETTINGS)) values[key] = settingValue(entry, environment)
  const config = values as unknown as Config
  requireSafeAddress(config)
  if (config.databaseReadUrl !== null && config.databaseUrl === null) {
    throw new StartupError('DATABASE_READ_URL is set without DATABASE_URL: set DATABASE_URL too')
  }
  if (config.role !== 'all' && config.databaseUrl === null) {
    throw new StartupError(
      `ROLE=${config.role} is set without DATABASE_URL: a process that has its database to itself has to be ROLE=all`,
    )
  }
  if (config.viewerToken !== null && config.adminToken === null) {
    throw new StartupError(
      'VIEWER_TOKEN is set without ADMIN_TOKEN: set ADMIN_TOKEN too, or everybody may change everything',
    )
  }
  if (config.viewerToken !== null && config.viewerToken === config.adminToken) {
    throw new StartupError('VIEWER_TOKEN equals ADMIN_TOKEN: give them different values')
  }
  return config
}

function settingValue(entry: Setting<unknown>, environment: Environment): unknown {
  const text = textOf(entry, environment)
  try {
    return entry.parse(text)
  } catch (thrown) {
    const shown = entry.secret ? '' : `=${JSON.stringify(text)}`
    throw new StartupError(`${entry.name}${shown} is not valid: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

function textOf(entry: Setting<unknown>, environment: Environment): string | undefined {
  const direct = emptyAsUnset(environment[entry.name])
  if (!entry.secret) return direct
  const fileVariable = `${entry.name}_FILE`
  const path = emptyAsUnset(environment[fileVariable])
  if (path === undefined) return direct
  if (direct !== undefined) throw new StartupError(`${entry.name} and ${fileVariable} are both set: keep one`)
  try {
    return emptyAsUnset(readFileSync(path, 'utf8').trim())
  } catch {
    throw new StartupError(`${fileVariable}=${JSON.stringify(path)} cannot be read`)
  }
}

const emptyAsUnset = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text?.trim())

/** Management needs no key by default, which is only safe where nobody else can connect. */
function requireSafeAddress(config: Config): void {
  if (isLoopback(config.host) || config.adminToken !== null || config.allowUnauthenticated) return
  throw new StartupError(
    `HOST=${config.host} is reachable by others and management would need no key: ` +
      'set ADMIN_TOKEN, or ALLOW_UNAUTHENTICATED=true if something in front of it keeps strangers out',
  )
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** A proxy on this machine hands on what the world sends, and no key keeps anybody from managing everything. */
export function isOpenToProxy({ publicUrl, adminToken, allowUnauthenticated }: Config): boolean {
  if (publicUrl === null || adminToken !== null || allowUnauthenticated) return false
  return !isLoopback(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''))
}
