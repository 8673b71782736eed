import { isIP } from 'node:net'
import { isoTime } from '../../lib/index.ts'
import type { NameFacts } from '../../outbound/index.ts'
import type { JsonObject } from '../probe-type.ts'
import { gtmJsUrl, healthEndpoints } from './addresses.ts'
import { failureDetails, providerFailure, type RequestTools, targetFailure } from './ask.ts'
import type { CertificateLimits } from './certificate.ts'
import {
  askTargets,
  type DnsTarget,
  historyIn,
  historyInMemory,
  judgeMove,
  judgeTargets,
  lookedUpName,
  withAnswer,
} from './dns.ts'
import { askGtmJs, checkHealth, type HealthCheck } from './health.ts'
import { type CheckFinding, objectIn } from './judge.ts'

interface OutsideOptions extends CertificateLimits {
  siteUrl: string
  tagServerUrl: string
  webContainerId: string | null
  /** The only path for health; undefined = the usual ones. */
  path: string | undefined
  dns_targets: readonly string[]
  expects_first_party: boolean
  watches_gtm_js: boolean
  /** What the last run left. */
  memory: JsonObject
  now: number
}

/** What can be checked of any tag server from outside. */
interface OutsideView {
  findings: readonly CheckFinding[]
  summary: string
  details: Readonly<Record<string, unknown>>
  totalMs: number | null
  failure: unknown
  memory: JsonObject
}

const SEEN_WHEN_DOWN: readonly string[] = ['dns_target', 'dns_move']

export async function lookFromOutside(tools: RequestTools, given: OutsideOptions): Promise<OutsideView> {
  const { tagServerUrl: url, path } = given
  // The history of a server at another address does not apply. Earlier versions did not store the address.
  const memory = given.memory.url === undefined || given.memory.url === url ? given.memory : {}
  const options = { ...given, memory }
  const remembered = typeof memory.path === 'string' ? memory.path : undefined
  const answerLimits = { ...options, expected_status: [], slow_ms: 0 }
  const [health, dns, script] = await Promise.all([
    checkHealth(tools, url, healthEndpoints(url, path, remembered), answerLimits),
    checkDns(tools, options),
    checkScript(tools, options),
  ])
  // What keeps the server from answering also fails the other checks, so it is reported only once.
  const others = [...dns.findings, ...script.findings]
  const seen = health.failure === undefined ? others : others.filter(({ check }) => SEEN_WHEN_DOWN.includes(check))
  const speed = checkSpeed(health, options)
  const party = firstParty(options.siteUrl, url)
  const partyFindings = options.expects_first_party ? judgeFirstParty(party) : []
  const working = health.workingPath ?? remembered
  return {
    findings: [...health.findings, ...seen, ...speed.findings, ...partyFindings],
    summary: health.summary,
    details: {
      ...health.details,
      usual_ms: speed.usualMs,
      first_party: { is_first_party: party.isFirstParty, site_domain: party.site, tag_server_domain: party.tagServer },
      dns: dns.details,
      gtm_js: script.details,
    },
    totalMs: health.totalMs,
    failure: health.failure ?? dns.failure ?? script.failure,
    memory: {
      url,
      ...(working === undefined ? {} : { path: working }),
      times: speed.times,
      ...dns.memory,
      ...script.memory,
    },
  }
}

function checkSpeed({ totalMs }: HealthCheck, { tagServerUrl, memory }: OutsideOptions) {
  const before = timesIn(memory.times)
  if (totalMs === null) return { times: before, usualMs: null, findings: [] }
  const times = withTime(before, totalMs)
  return { times, ...judgeTimes(new URL(tagServerUrl).host, times) }
}

interface Part {
  findings: readonly CheckFinding[]
  details: object | null
  memory: JsonObject
  /** The error that prevented the check. */
  failure?: unknown
}

async function checkDns(tools: RequestTools, options: OutsideOptions): Promise<Part> {
  const { outbound, timeoutMs, signal } = tools
  const { tagServerUrl: url, dns_targets: names, memory, now } = options
  const host = lookedUpName(url)
  const before: JsonObject = memory.dns === undefined ? {} : { dns: memory.dns }
  if (host === null) return { findings: [], details: null, memory: before }
  try {
    const [facts, targets] = await Promise.all([
      outbound.resolve(host, { wantsAliases: names.length > 0, totalMs: timeoutMs, signal }),
      askTargets(tools, names),
    ])
    return judgeDns(host, facts, targets, memory, now)
  } catch (thrown) {
    // If the server itself answers, its name resolved a moment ago, so the resolver is at fault.
    const findings = [providerFailure('dns', `the DNS of ${host}`, thrown, timeoutMs)]
    return { findings, details: failureDetails(thrown), memory: before, failure: thrown }
  }
}

function judgeDns(
  host: string,
  facts: NameFacts,
  targets: readonly DnsTarget[],
  memory: JsonObject,
  now: number,
): Part {
  const history = withAnswer(historyIn(memory, now), facts.addresses, now)
  return {
    findings: [...judgeTargets(host, facts, targets), judgeMove(host, history, facts.addresses, now)],
    details: {
      host,
      addresses: facts.addresses.slice(0, 16),
      aliases: facts.aliases,
      targets: targets.map(({ name }) => name),
      learning_since: isoTime(history.since),
    },
    memory: { dns: historyInMemory(history) },
  }
}

/** Checks a script that the tag server has served before: pages that load it there stop measuring when it is gone. */
async function checkScript(tools: RequestTools, options: OutsideOptions): Promise<Part> {
  const { tagServerUrl, webContainerId, watches_gtm_js: isWatched, memory, now } = options
  if (!isWatched || webContainerId === null) return { findings: [], details: null, memory: {} }
  const before = objectIn(memory.gtm_js)
  const wasServed = before.container === webContainerId && typeof before.served_at === 'number'
  const check = (finding: Omit<CheckFinding, 'check'>): CheckFinding => ({ check: 'gtm_js', ...finding })
  const kept: JsonObject = wasServed ? { gtm_js: before } : {}
  try {
    const { isServed, isBlocked, answered, details } = await askGtmJs(tools, tagServerUrl, webContainerId)
    if (isServed) {
      const findings = [check({ status: 'ok', message: answered })]
      return {
        findings,
        details: { ...details, is_served: true },
        memory: { gtm_js: { container: webContainerId, served_at: now } },
      }
    }
    const message = `the tag server no longer serves the web container's script: ${answered}`
    const findings = wasServed && !isBlocked ? [check({ status: 'warning', message })] : []
    return { findings, details: { ...details, is_served: false }, memory: kept }
  } catch (thrown) {
    const failed = targetFailure('gtm_js', gtmJsUrl(tagServerUrl, webContainerId), thrown, tools.timeoutMs)
    const details = failureDetails(thrown)
    if (!wasServed) return { findings: [], details, memory: kept }
    return { findings: [{ ...failed, status: 'warning' }], details, memory: kept, failure: thrown }
  }
}

/** Labels under which countries let people register names, such as `co` in `co.uk`. */
const SECOND_LEVELS: ReadonlySet<string> = new Set(
  'ac co com edu go gob gov gv ltd ne net nom or org plc sch'.split(' '),
)

/** Hosts that give each customer a name: two such names are unrelated. */
const SHARED_HOSTS: readonly string[] = (
  'a.run.app amazonaws.com appspot.com azurefd.net azurewebsites.net cloudfront.net cloudfunctions.net ' +
  'elasticbeanstalk.com firebaseapp.com fly.dev github.io herokuapp.com myshopify.com netlify.app onrender.com pages.dev ' +
  'run.app stape.io stape.net vercel.app web.app workers.dev'
).split(' ')

/**
 * Returns the part of a host name that belongs to one owner, `example.co.uk` of `www.example.co.uk`. Applies the rules that
 * matter for sites, not the whole public suffix list. Null for IP addresses and names without such a part.
 */
export function registrableDomain(host: string): string | null {
  const name = host.toLowerCase().replace(/\.$/, '')
  const labels = name.split('.')
  if (isIP(name) !== 0 || name.startsWith('[') || labels.length < 2) return null
  const shared = SHARED_HOSTS.find((suffix) => name === suffix || name.endsWith(`.${suffix}`))
  const suffixLabels = shared === undefined ? suffixLength(labels) : shared.split('.').length
  return labels.length > suffixLabels ? labels.slice(-suffixLabels - 1).join('.') : null
}

function suffixLength(labels: readonly string[]): number {
  const [second = '', top = ''] = labels.slice(-2)
  return top.length === 2 && SECOND_LEVELS.has(second) ? 2 : 1
}

interface FirstParty {
  /** Null when the question does not apply: an IP address, or a name inside a network. */
  isFirstParty: boolean | null
  site: string | null
  tagServer: string | null
}

/** Browsers let a tag server set lasting cookies only if it shares the site's registrable domain. */
export function firstParty(siteUrl: string, tagServerUrl: string): FirstParty {
  const [siteHost, tagHost] = [new URL(siteUrl).hostname, new URL(tagServerUrl).hostname]
  const [site, tagServer] = [registrableDomain(siteHost), registrableDomain(tagHost)]
  if (siteHost === tagHost) return { isFirstParty: true, site, tagServer }
  const isFirstParty = site === null || tagServer === null ? null : site === tagServer
  return { isFirstParty, site, tagServer }
}

function judgeFirstParty({ isFirstParty, site, tagServer }: FirstParty): CheckFinding[] {
  if (isFirstParty === null) return []
  if (isFirstParty) return [{ check: 'first_party', status: 'ok', message: 'the tag server is first-party' }]
  const message = `the tag server is at ${tagServer}, the site at ${site}: its cookies are third-party, which browsers block or shorten`
  return [{ check: 'first_party', status: 'warning', message }]
}

/** This many answers in a row must be slow, because a single one may be a cold start. */
const RECENT = 3
/** Fewer earlier answers do not show what is usual. */
const USUAL_MIN = 10
const KEPT = 30
const TIMES_USUAL = 3
/** An answer within this time is never slow, however fast the server usually is. */
const FLOOR_MS = 1_000

/** Adds an answer's time to the latest ones, oldest first. */
export const withTime = (times: readonly number[], ms: number): number[] => [...times, ms].slice(-KEPT)

const timesIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'number') : []

/**
 * Judges whether a server takes much longer than it used to.
 *
 * @param times of its latest answers, ms, oldest first
 */
export function judgeTimes(
  host: string,
  times: readonly number[],
): { usualMs: number | null; findings: CheckFinding[] } {
  const earlier = times.slice(0, -RECENT)
  if (earlier.length < USUAL_MIN) return { usualMs: null, findings: [] }
  const usualMs = earlier.toSorted((a, b) => a - b)[Math.floor(earlier.length / 2)] ?? 0
  const limit = Math.max(FLOOR_MS, TIMES_USUAL * usualMs)
  const recent = times.slice(-RECENT)
  if (recent.some((ms) => ms <= limit)) return { usualMs, findings: [] }
  const message = `${host} took ${recent.join(', ')} ms for its last answers; usually ${usualMs} ms`
  return { usualMs, findings: [{ check: 'speed', status: 'warning', message }] }
}
