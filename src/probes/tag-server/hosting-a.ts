import { Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import { DAY } from '../../lib/index.ts'
import { SecretText } from '../probe-type.ts'
import {
  type ContainerFacts,
  type DomainFacts,
  type Option,
  readContainer,
  readDomains,
  readWords,
  type Words,
  wordFor,
} from './hosting-a-answers.ts'
import {
  type Ask,
  askJson,
  type HostingAnswer,
  type HostingCheck,
  type HostingTools,
  judgeStatus,
} from './hosting-api.ts'
import { badFindings, type CheckFinding, type Json, type JsonObject, objectIn } from './judge.ts'

interface ProviderAOptions {
  containerId: string
  /** Without a trailing slash. */
  apiUrl: string
  token: string
  /** For keys with access to several workspaces. */
  workspace: string | undefined
  limits: ContainerLimits
  /** What the last run left. */
  memory: JsonObject
}

const WHO = 'the API of hosting provider A'

/** Asks provider A for the container, its domains and, once a day, the meanings of its values. */
export async function checkProviderA(
  caller: HostingTools,
  options: ProviderAOptions,
): Promise<HostingCheck & { memory: JsonObject }> {
  const { containerId, limits } = options
  const ask = providerAsk(caller, options)
  const place = await findContainer(ask, options)
  if (!place.answer.isAnswer) {
    const { finding, failure } = place.answer
    return { findings: [finding], summary: '', details: {}, totalMs: null, failure, memory: options.memory }
  }
  const { url, base } = place
  const [domains, kept] = await Promise.all([
    ask(`${url}/domains`),
    legendOf(ask, base, options.memory.base === base ? options.memory.legend : undefined, caller.now),
  ])
  const container = readContainer(place.answer.body)
  const facts = domains.isAnswer ? readDomains(domains.body) : []
  const findings: CheckFinding[] = [
    ...judgeContainer(containerId, container, kept.legend, limits),
    ...judgeDomains(facts, kept.legend, limits.ok_statuses),
    // An API without this part says nothing about domains.
    ...(domains.isAnswer || domains.status === 404 ? [] : [domains.finding]),
  ]
  return {
    findings,
    summary: findings[0]?.message ?? '',
    details: containerDetails(containerId, container, facts ?? [], kept.legend),
    totalMs: place.answer.totalMs,
    failure: domains.isAnswer ? undefined : domains.failure,
    memory: { base, legend: legendInMemory(kept) },
  }
}

/** The settings of a probe that asks provider A. */
export const PROVIDER_A_SETTINGS = {
  hosting_a_workspace: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]+$',
      [EXPECTS]: 'text without spaces, of ASCII characters',
      maxLength: 200,
      description: 'Workspace at hosting provider A',
    }),
  ),
  hosting_a_token: SecretText('API key of hosting provider A, instead of HOSTING_A_TOKEN'),
}

/** Returns a function that sends requests to provider A with a key. */
export function providerAsk(
  caller: HostingTools,
  { token, workspace }: Pick<ProviderAOptions, 'token' | 'workspace'>,
): Ask {
  const headers = { 'x-auth-token': token, ...(workspace === undefined ? {} : { 'x-workspace': workspace }) }
  return (url) => askJson(caller, WHO, url, headers)
}

interface Place {
  base: string
  url: string
  answer: HostingAnswer
}

/** Finds the container in the region that knows it, starting with the one that did last time, or returns why there is none. */
export async function findContainer(
  ask: Ask,
  { containerId, apiUrl, memory }: Pick<ProviderAOptions, 'containerId' | 'apiUrl' | 'memory'>,
): Promise<Place> {
  const bases = regionsOf(apiUrl).toSorted((a, b) => Number(b === memory.base) - Number(a === memory.base))
  const tried: Place[] = []
  for (const base of bases) {
    const url = `${base}/containers/${encodeURIComponent(containerId)}`
    const answer = await ask(url)
    const place = { base, url, answer }
    if (answer.isAnswer || !mayBeElsewhere(answer.status)) return place
    tried.push(place)
  }
  // “Knows the key but not the container” says more than “knows neither”.
  const place = tried.find(({ answer }) => isUnknownThere(answer)) ?? tried[0]
  if (place === undefined) throw new Error('there is no region to ask')
  if (place.answer.isAnswer || !isUnknownThere(place.answer)) return place
  const message = `hosting provider A knows no container ${containerId}: it was deleted, or the key belongs to another account`
  return { ...place, answer: { ...place.answer, finding: { check: 'hosting', status: 'critical', message } } }
}

const isUnknownThere = (answer: HostingAnswer): boolean => !answer.isAnswer && answer.status === 404 && !answer.isPage

/** Statuses with which a region answers for containers and keys of the other region. */
const mayBeElsewhere = (status: number | null): boolean => status === 404 || status === 401 || status === 403

/** Accounts are in one of two regions that do not know each other's. An address other than the usual one is used as it is. */
export function regionsOf(apiUrl: string): string[] {
  const url = new URL(apiUrl)
  if (url.hostname !== 'api.app.stape.io') return [apiUrl]
  url.hostname = 'api.app.eu.stape.io'
  return [apiUrl, url.href.replace(/\/$/, '')]
}

function containerDetails(
  containerId: string,
  container: ContainerFacts,
  domains: readonly DomainFacts[],
  legend: Legend,
) {
  return {
    container_id: containerId,
    name: container.name,
    status: wordFor(container.status, legend.containerStatuses),
    zone: container.zone,
    warnings: container.warnings,
    usage: container.usage,
    requests_limit: container.requestsLimit,
    used_percent: usedPercent(container),
    min_replicas: container.minReplicas,
    max_replicas: container.maxReplicas,
    domains: domains.slice(0, DOMAINS_SHOWN).map(({ name, status, error, records }) => ({
      name,
      status: wordFor(status, legend.domainStatuses),
      error: errorText(error, legend.domainErrors),
      records,
    })),
  }
}

/** Meanings of the numbers in provider A's answers, from its own API. */
interface Legend {
  containerStatuses: Words
  domainStatuses: Words
  domainErrors: Words
}

export interface ContainerLimits {
  ok_statuses: readonly string[]
  usage_warning_percent: number
}

function judgeContainer(
  id: string,
  container: ContainerFacts,
  { containerStatuses }: Legend,
  limits: ContainerLimits,
): CheckFinding[] {
  const what = `container ${id} at hosting provider A`
  const word = wordFor(container.status, containerStatuses)
  const status: CheckFinding =
    word === null
      ? { check: 'hosting', status: 'error', message: `${what} has no status` }
      : judgeStatus('hosting', what, word, limits.ok_statuses)
  const [first] = container.warnings
  const warned: CheckFinding[] =
    first === undefined
      ? []
      : [{ check: 'hosting_warning', status: 'warning', message: `hosting provider A warns: ${first}` }]
  return [status, ...warned, ...judgeUsage(container, limits)]
}

/** Used share of the plan's requests, in percent; null when either number is unknown. */
const usedPercent = ({ usage, requestsLimit }: ContainerFacts): number | null =>
  usage === null || requestsLimit === null ? null : Math.floor((100 * usage) / requestsLimit)

function judgeUsage(container: ContainerFacts, { usage_warning_percent: limit }: ContainerLimits): CheckFinding[] {
  const percent = usedPercent(container)
  const isHigh = container.isLimitExceeded || (percent !== null && percent >= limit)
  if (percent === null && !isHigh) return []
  const numbers =
    percent === null
      ? 'the plan’s requests are used up'
      : `${percent} % of the plan's ${container.requestsLimit?.toLocaleString('en-US')} requests are used`
  return [{ check: 'hosting_usage', status: isHigh ? 'warning' : 'ok', message: numbers }]
}

/** As many as fit into details. */
const DOMAINS_SHOWN = 20

/** Returns the findings that are not fine, worst first. */
function judgeDomains(
  domains: readonly DomainFacts[] | null,
  legend: Legend,
  okStatuses: readonly string[],
): CheckFinding[] {
  if (domains === null) {
    const message = `${WHO} returns no list of the container's domains`
    return [{ check: 'hosting_domain', status: 'error', message }]
  }
  return badFindings(domains.map((domain) => judgeDomain(domain, legend, okStatuses))).slice(0, DOMAINS_SHOWN)
}

function judgeDomain(domain: DomainFacts, legend: Legend, okStatuses: readonly string[]): CheckFinding {
  const { name } = domain
  const error = errorText(domain.error, legend.domainErrors)
  if (error !== null) {
    return {
      check: 'hosting_domain',
      status: 'critical',
      message: `hosting provider A reports an error for ${name}: ${error}`,
    }
  }
  const word = wordFor(domain.status, legend.domainStatuses)
  if (word === null) return { check: 'hosting_domain', status: 'ok', message: `${name} has no error` }
  return judgeStatus('hosting_domain', `domain ${name} at hosting provider A`, word, okStatuses)
}

/** Null when the error field says that there is no error. */
export function errorText(error: Option | null, words: Words): string | null {
  const text = error === null ? null : wordFor(error, words)
  return text === null || /^(0|none|ok|null|success|(no|without)[ _-]?errors?)$/i.test(text) ? null : text
}

/** A legend and when it was read, epoch ms. */
interface KeptLegend {
  readonly at: number
  readonly legend: Legend
}

const KEPT_MS = DAY

/**
 * Returns the kept legend unless it is too old, or else a new one. Answers mostly contain their own labels, so a legend that
 * cannot be read fails no check and is requested again next time.
 */
async function legendOf(ask: Ask, base: string, kept: Json | undefined, now: number): Promise<KeptLegend> {
  const before = legendIn(kept)
  if (Math.abs(now - before.at) < KEPT_MS) return before
  const [statuses, domainStatuses, domainErrors] = await Promise.all([
    ask(`${base}/resources/container-statuses`),
    ask(`${base}/resources/domain-statuses`),
    ask(`${base}/resources/domain-errors`),
  ])
  const wordsOf = (answer: Awaited<ReturnType<Ask>>, known: Words) => (answer.isAnswer ? readWords(answer.body) : known)
  const isToldAll = [statuses, domainStatuses, domainErrors].every((answer) => answer.isAnswer || answer.status === 404)
  return {
    at: isToldAll ? now : before.at,
    legend: {
      containerStatuses: wordsOf(statuses, before.legend.containerStatuses),
      domainStatuses: wordsOf(domainStatuses, before.legend.domainStatuses),
      domainErrors: wordsOf(domainErrors, before.legend.domainErrors),
    },
  }
}

const legendInMemory = ({ at, legend }: KeptLegend): JsonObject => ({ at, ...legend })

function legendIn(kept: Json | undefined): KeptLegend {
  const { at, containerStatuses, domainStatuses, domainErrors } = objectIn(kept)
  return {
    at: typeof at === 'number' ? at : 0,
    legend: {
      containerStatuses: wordsIn(containerStatuses),
      domainStatuses: wordsIn(domainStatuses),
      domainErrors: wordsIn(domainErrors),
    },
  }
}

const wordsIn = (value: Json | undefined): Words =>
  Object.fromEntries(
    Object.entries(objectIn(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
