import { isoTime, type NameFacts } from '../../lib/index.ts'
import type { JsonObject } from '../probe-type.ts'
import { gtmJsUrl, healthEndpoints } from './addresses.ts'
import type { RequestTools } from './ask.ts'
import type { CertificateLimits } from './certificate.ts'
import type { CheckFinding } from './check-finding.ts'
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
import { failureDetails, targetFailure } from './failure.ts'
import { firstParty, judgeFirstParty } from './first-party.ts'
import { askGtmJs } from './gtm-js.ts'
import { checkHealth, type HealthCheck } from './health.ts'
import { objectIn } from './memory.ts'
import { judgeTimes, timesIn, withTime } from './speed.ts'

export interface OutsideOptions extends CertificateLimits {
  siteUrl: string
  tagServerUrl: string
  webContainerId: string | null
  /** Only place to ask for health; undefined = the usual ones. */
  path: string | undefined
  dns_targets: readonly string[]
  expects_first_party: boolean
  watches_gtm_js: boolean
  /** What the last run left. */
  memory: JsonObject
  now: number
}

/** What can be seen of a tag server from outside, wherever it is hosted. */
export interface OutsideView {
  findings: readonly CheckFinding[]
  summary: string
  details: Readonly<Record<string, unknown>>
  totalMs: number | null
  failure: unknown
  memory: JsonObject
}

const SEEN_WHEN_DOWN: readonly string[] = ['dns_target', 'dns_move']

export async function lookFromOutside(tools: RequestTools, options: OutsideOptions): Promise<OutsideView> {
  const { tagServerUrl: url, memory, path } = options
  const remembered = typeof memory.path === 'string' ? memory.path : undefined
  const answerLimits = { ...options, expected_status: [], slow_ms: 0 }
  const [health, dns, script] = await Promise.all([
    checkHealth(tools, url, healthEndpoints(url, path, remembered), answerLimits),
    checkDns(tools, options),
    checkScript(tools, options),
  ])
  // What keeps the server from answering keeps the rest from being looked at: said once, it is enough.
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
    failure: health.failure,
    memory: {
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
}

async function checkDns({ outbound, timeoutMs, signal }: RequestTools, options: OutsideOptions): Promise<Part> {
  const { tagServerUrl: url, dns_targets: names, memory, now } = options
  const host = lookedUpName(url)
  const before: JsonObject = memory.dns === undefined ? {} : { dns: memory.dns }
  if (host === null) return { findings: [], details: null, memory: before }
  try {
    const [facts, targets] = await Promise.all([
      outbound.resolve(host, { wantsAliases: names.length > 0, totalMs: timeoutMs, signal }),
      askTargets(outbound, names, signal),
    ])
    return judgeDns(host, facts, targets, memory, now)
  } catch (thrown) {
    return { findings: [targetFailure('dns', url, thrown, timeoutMs)], details: failureDetails(thrown), memory: before }
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

/** A tag server that has served the script, and pages that get it there: when it stops, they stop measuring. */
async function checkScript(tools: RequestTools, options: OutsideOptions): Promise<Part> {
  const { tagServerUrl, webContainerId, watches_gtm_js: isWatched, memory, now } = options
  if (!isWatched || webContainerId === null) return { findings: [], details: null, memory: {} }
  const before = objectIn(memory.gtm_js)
  const wasServed = before.container === webContainerId && typeof before.served_at === 'number'
  const check = (finding: Omit<CheckFinding, 'check'>): CheckFinding => ({ check: 'gtm_js', ...finding })
  const kept: JsonObject = wasServed ? { gtm_js: before } : {}
  try {
    const { isServed, answered, details } = await askGtmJs(tools, tagServerUrl, webContainerId)
    if (isServed) {
      const findings = [check({ status: 'ok', message: answered })]
      return {
        findings,
        details: { ...details, is_served: true },
        memory: { gtm_js: { container: webContainerId, served_at: now } },
      }
    }
    const message = `the tag server no longer serves the web container's script: ${answered}`
    const findings = wasServed ? [check({ status: 'warning', message })] : []
    return { findings, details: { ...details, is_served: false }, memory: kept }
  } catch (thrown) {
    const failed = targetFailure('gtm_js', gtmJsUrl(tagServerUrl, webContainerId), thrown, tools.timeoutMs)
    const findings = wasServed ? [{ ...failed, status: 'warning' } as const] : []
    return { findings, details: failureDetails(thrown), memory: kept }
  }
}
