import { readFileSync } from 'node:fs'
import { SETTINGS, type Setting } from './config-settings.ts'
import { isWideForProxy } from './config-values.ts'
import { StartupError } from './lib/index.ts'

export { SETTINGS }

type Settings = { [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['parse']> }

export interface Config extends Settings {
  /** `PUBLIC_URL` without a trailing slash; null means the address that the service listens on. */
  publicUrl: string | null
}

/** Whether this process does that part of the work: `ingest` receives what tags send, `worker` does everything else. */
export const hasRole = (config: Config, part: 'ingest' | 'worker'): boolean =>
  config.role === 'all' || config.role === part

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the configuration from the environment, which only `config.ts`, `main.ts` and `cli` may read.
 *
 * @throws StartupError naming the variable, its value (unless it is a secret) and what is allowed
 */
export function readConfig(environment: Environment): Config {
  const values: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(SETTINGS)) values[key] = settingValue(entry, environment)
  const config = values as unknown as Config
  requireSafeAddress(config)
  if (config.databaseReadUrl !== null && config.databaseUrl === null) {
    throw new StartupError('DATABASE_READ_URL is set without DATABASE_URL: set DATABASE_URL too')
  }
  if (config.smtpUrl !== null && config.smtpFrom === null) {
    throw new StartupError('SMTP_URL is set without SMTP_FROM: set the sender address')
  }
  if (config.role !== 'all' && config.databaseUrl === null) {
    throw new StartupError(
      `ROLE=${config.role} is set without DATABASE_URL: a process with a database of its own must be ROLE=all`,
    )
  }
  const oidc = { OIDC_CLIENT_ID: config.oidcClientId, OIDC_CLIENT_SECRET: config.oidcClientSecret }
  for (const [name, value] of Object.entries(oidc)) {
    if ((value === null) === (config.oidcIssuer === null)) continue
    const [given, missing] = value === null ? ['OIDC_ISSUER', name] : [name, 'OIDC_ISSUER']
    throw new StartupError(`${given} is set without ${missing}: set ${missing} too`)
  }
  requireWholeProxy(config)
  if (config.viewerToken !== null && config.adminToken === null) {
    throw new StartupError(
      'VIEWER_TOKEN is set without ADMIN_TOKEN: set ADMIN_TOKEN too, or anyone can change everything',
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
    // An address may contain a password even where the setting expects none.
    const shown = entry.secret || /:\/\/[^/@]*:[^/]*@/.test(text ?? '') ? '' : `=${JSON.stringify(text)}`
    throw new StartupError(`${entry.name}${shown} ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

function textOf(entry: Setting<unknown>, environment: Environment): string | undefined {
  const direct = emptyAsUnset(environment[entry.name])
  if (!entry.secret) return direct
  const fileVariable = `${entry.name}_FILE`
  const path = emptyAsUnset(environment[fileVariable])
  if (path === undefined) return direct
  if (direct !== undefined) throw new StartupError(`${entry.name} and ${fileVariable} are both set: keep one`)
  const text = emptyAsUnset(textIn(path, fileVariable))
  // The secret may not be mounted yet. Treated as unset, an empty DATABASE_URL would start the service on a new SQLite database.
  if (text === undefined)
    throw new StartupError(`${fileVariable}=${JSON.stringify(path)} is empty: put the value into it`)
  return text
}

function textIn(path: string, fileVariable: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new StartupError(`${fileVariable}=${JSON.stringify(path)} cannot be read`)
  }
}

const emptyAsUnset = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text?.trim())

/** Whether people sign in with accounts, even if none exists yet. */
export const asksForAccounts = ({ adminEmail, oidcIssuer, proxyEmailHeader }: Config): boolean =>
  adminEmail !== null || oidcIssuer !== null || proxyEmailHeader !== null

/** The first entry of PROXY_ADDRESSES that is wide enough to contain other machines than the proxy; null when none is. */
export const wideProxyAddress = ({ proxyAddresses }: Config): string | null =>
  proxyAddresses.find(isWideForProxy) ?? null

/** PROXY_EMAIL_HEADER is trusted only from PROXY_ADDRESSES, and the other proxy settings mean nothing without it. */
function requireWholeProxy(config: Config): void {
  const { proxyEmailHeader, proxyNameHeader, proxyGroupsHeader, proxyAddresses, proxySignOutUrl } = config
  if (proxyEmailHeader !== null && proxyAddresses.length === 0) {
    throw new StartupError(
      'PROXY_EMAIL_HEADER is set without PROXY_ADDRESSES: set the addresses that the proxy connects from, or anyone could sign in as anyone',
    )
  }
  const rest = {
    PROXY_ADDRESSES: proxyAddresses.length > 0,
    PROXY_NAME_HEADER: proxyNameHeader !== null,
    PROXY_GROUPS_HEADER: proxyGroupsHeader !== null,
    PROXY_SIGN_OUT_URL: proxySignOutUrl !== null,
  }
  const given = Object.entries(rest).find(([, isSet]) => isSet)
  if (proxyEmailHeader === null && given !== undefined) {
    throw new StartupError(`${given[0]} is set without PROXY_EMAIL_HEADER: set PROXY_EMAIL_HEADER too`)
  }
  const headers = [proxyEmailHeader, proxyNameHeader, proxyGroupsHeader].filter((name) => name !== null)
  if (new Set(headers).size < headers.length) {
    throw new StartupError('PROXY_EMAIL_HEADER, PROXY_NAME_HEADER and PROXY_GROUPS_HEADER must name different headers')
  }
}

const ACCOUNT_SETTINGS = 'ADMIN_EMAIL, OIDC_ISSUER or PROXY_EMAIL_HEADER to sign in with accounts'

/** Management needs no key by default, which is safe only where no one else can connect. */
function requireSafeAddress(config: Config): void {
  if (config.adminToken !== null || asksForAccounts(config) || config.allowUnauthenticated) return
  const proxied = signOfProxy(config)
  if (proxied !== null) {
    throw new StartupError(
      `${proxied} says that a proxy forwards requests of others, and management would need no key: ` +
        `set ADMIN_TOKEN, or ALLOW_UNAUTHENTICATED=true if the proxy keeps strangers out, or ${ACCOUNT_SETTINGS}`,
    )
  }
  if (isLoopback(config.host)) return
  throw new StartupError(
    `HOST=${config.host} is reachable by others and management would need no key: ` +
      `set ADMIN_TOKEN, or ALLOW_UNAUTHENTICATED=true if something in front of it keeps strangers out, or ${ACCOUNT_SETTINGS}`,
  )
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** The setting that implies a proxy, so that others reach a service that listens on loopback; null when none does. */
export function signOfProxy({ host, publicUrl, trustProxy }: Config): string | null {
  if (!isLoopback(host)) return null
  if (publicUrl !== null && !isLoopback(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''))) {
    return `PUBLIC_URL=${publicUrl}`
  }
  return trustProxy.length === 0 ? null : `TRUST_PROXY=${trustProxy.join(',')}`
}
