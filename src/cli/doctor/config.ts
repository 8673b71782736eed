import { createPrivateKey } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { BlockList } from 'node:net'
import { parseEnv } from 'node:util'
import { asksForAccounts, type Config, isLoopback, SETTINGS, signOfProxy, wideProxyAddress } from '../../config.ts'
import { envText } from '../options.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** Findings about a valid configuration that may surprise its operator. An unset setting gets no line, unless it should be set. */
export const configFindings = (config: Config): DoctorFinding[] =>
  [
    access(config),
    tokensFinding(config),
    publicUrl(config),
    trustProxyFinding(config),
    proxySignInFinding(config),
    keyHeadersFinding(config),
    outboundAllowFinding(config),
    googleFinding(config),
  ].filter((finding) => finding !== null)

function access(config: Config): DoctorFinding {
  const { host, adminToken } = config
  const check = 'access'
  if (adminToken !== null) return { check, level: 'ok', text: 'management needs the ADMIN_TOKEN' }
  if (asksForAccounts(config)) return { check, level: 'ok', text: 'people sign in with accounts' }
  if (isLoopback(host) && signOfProxy(config) === null) {
    const text = `management needs no key, and only this machine reaches HOST=${host}`
    return { check, level: 'ok', text }
  }
  const { publicUrl: url } = config
  const names =
    url === null ? '; under a name with a dot it answers only if that is in PUBLIC_URL, which is not set' : ''
  const text = `anyone who reaches ${url ?? `HOST=${host}`} can change everything: set ADMIN_TOKEN${names}`
  return { check, level: 'warning', text }
}

function publicUrl({ publicUrl: url }: Config): DoctorFinding {
  const check = 'PUBLIC_URL'
  if (url?.startsWith('https://') === true) {
    if (new URL(url).pathname === '/') return { check, level: 'ok', text: url }
    const text = `is ${url}, but below a path the dashboard does not load: give it a host of its own`
    return { check, level: 'warning', text }
  }
  const given = url === null ? 'is not set' : `is ${url}`
  const text = `${given}, but the tag sends to https only: put a TLS proxy in front and set PUBLIC_URL to its address`
  return { check, level: 'warning', text }
}

/** Tokens with fewer are weak: only one of several hundred thousand random tokens of 16 characters has so few. */
const MIN_DISTINCT_CHARACTERS = 8
/** Words that manuals print in place of a secret. */
const PLACEHOLDER = /change.?me|password|passwort|secret|example|your.?token|1234567|qwert/i

/** Whether the tokens are hard to guess; null without any. */
function tokensFinding({ adminToken, viewerToken }: Config): DoctorFinding | null {
  const check = 'tokens'
  if (adminToken === null && viewerToken === null) return null
  const weak = [isWeak(adminToken) ? 'ADMIN_TOKEN' : '', isWeak(viewerToken) ? 'VIEWER_TOKEN' : ''].filter(Boolean)
  if (weak.length === 0) return { check, level: 'ok', text: 'not easily guessed' }
  const text = `${weak.join(' and ')} can be guessed: use a random one, for example from "openssl rand -hex 32"`
  return { check, level: 'warning', text }
}

const isWeak = (token: string | null): boolean =>
  token !== null && (new Set(token).size < MIN_DISTINCT_CHARACTERS || PLACEHOLDER.test(token))

/** Whether failed sign-ins count against the caller who made them; null when nothing suggests a proxy. */
function trustProxyFinding(config: Config): DoctorFinding | null {
  const { publicUrl, adminToken, trustProxy } = config
  const check = 'TRUST_PROXY'
  const everybody = trustProxy.find(isBroad)
  if (everybody !== undefined) {
    const text = `${everybody} lets every caller in it choose its own address, so nothing slows down guessing of tokens: name only the proxy's address`
    return { check, level: 'warning', text }
  }
  if (trustProxy.length > 0) return { check, level: 'ok', text: `callers are identified by ${trustProxy.join(', ')}` }
  // Tagwarden speaks no TLS, so an https address means a proxy. Without a token or accounts no one signs in.
  const asksWhoIsThere = adminToken !== null || asksForAccounts(config)
  if (publicUrl?.startsWith('https://') !== true || !asksWhoIsThere) return null
  const text =
    'is not set, and PUBLIC_URL implies a proxy: failed sign-ins of one caller lock out all; set it to the address of the proxy'
  return { check, level: 'warning', text }
}

/** Whether machines other than the proxy could sign in as anyone; null when no proxy signs people in. */
function proxySignInFinding(config: Config): DoctorFinding | null {
  const { proxyEmailHeader: header, proxyAddresses } = config
  if (header === null) return null
  const check = 'PROXY_ADDRESSES'
  const wide = wideProxyAddress(config)
  if (wide === null) {
    return { check, level: 'ok', text: `${header} identifies people, from ${proxyAddresses.join(', ')}` }
  }
  const text = `every machine in ${wide} can sign in as anyone by sending ${header}: name only the proxy's address`
  return { check, level: 'warning', text }
}

/**
 * Whether a range is wider than any private network, so that callers from the internet can be in it and forge their address. The
 * largest private networks are 10.0.0.0/8 and fc00::/7.
 */
function isBroad(range: string): boolean {
  const [address = '', prefix] = range.split('/')
  if (prefix === undefined) return false
  if (!address.includes(':')) return Number(prefix) < 8
  return Number(prefix) < (/^f[cd]/i.test(address) ? 7 : 32)
}

/** Headers that requests have anyway. Ingest reads the key from the first configured header that a request has. */
const ALWAYS_THERE = [
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]

/** Null when the headers are fine, because nearly everyone keeps the default. */
function keyHeadersFinding({ ingestKeyHeaders }: Config): DoctorFinding | null {
  const wrong = ingestKeyHeaders.filter((name) => ALWAYS_THERE.includes(name))
  if (wrong.length === 0) return null
  const text = `${wrong.join(', ')} is in every request but is not a key, so tags would get 401: leave it out`
  return { check: 'INGEST_KEY_HEADERS', level: 'warning', text }
}

/** The address from which machines in most clouds get their credentials. */
const CLOUD_METADATA = '169.254.169.254'

/** Whether OUTBOUND_ALLOW opens more than anyone intends; null when it is empty. */
function outboundAllowFinding({ outboundAllow: { ranges, hosts } }: Config): DoctorFinding | null {
  const check = 'OUTBOUND_ALLOW'
  if (ranges.length + hosts.length === 0) return null
  const tooWide = ranges.find(([base, bits]) => {
    const list = new BlockList()
    list.addSubnet(base.toString(), bits, base.kind())
    return bits === 0 || list.check(CLOUD_METADATA)
  })
  if (tooWide === undefined) return { check, level: 'ok', text: 'no more than a few places' }
  const [base, bits] = tooWide
  const text = `${base.toString()}/${bits} lets anyone who creates probes reach ${CLOUD_METADATA}, where clouds provide credentials: name the few addresses that are needed`
  return { check, level: 'warning', text }
}

/** Whether the key in GOOGLE_CREDENTIALS can sign; does not ask Google. Null without one. */
function googleFinding({ googleCredentials }: Config): DoctorFinding | null {
  if (googleCredentials === null) return null
  const check = 'GOOGLE_CREDENTIALS'
  try {
    createPrivateKey(googleCredentials.private_key)
    return { check, level: 'ok', text: `the key of ${googleCredentials.client_email}` }
  } catch {
    const text =
      'its private_key is not a key (usually because line breaks were lost): set GOOGLE_CREDENTIALS_FILE to the file as it was downloaded'
    return { check, level: 'warning', text }
  }
}

const OTHERS_MAY_READ = 0o004

/** Whether other users of this machine can read the secrets in a `.env`; null when it has none, or files have no modes that say so. */
export async function envFileFinding(path: string, platform = process.platform): Promise<DoctorFinding | null> {
  const check = '.env'
  // On Windows, Node reports every file as one that all may read.
  if (platform === 'win32') return null
  const bytes = await readFile(path).catch(() => null)
  if (bytes === null) return null
  const given = parseEnv(envText(bytes))
  const secrets = Object.values(SETTINGS).filter(({ name, secret }) => secret && (given[name] ?? '') !== '')
  if (secrets.length === 0) return null
  if (((await stat(path)).mode & OTHERS_MAY_READ) === 0) {
    return { check, level: 'ok', text: 'others on this machine cannot read it' }
  }
  const names = secrets.map(({ name }) => name).join(', ')
  return { check, level: 'warning', text: `anyone on this machine can read ${names} in it: chmod 600 .env` }
}
