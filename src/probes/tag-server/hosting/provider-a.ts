import type { CheckFinding } from '../check-finding.ts'
import type { JsonObject } from '../memory.ts'
import { type Ask, askJson, type HostingAnswer, type HostingTools } from './ask-json.ts'
import { legendInMemory, legendOf } from './legend.ts'
import { type ContainerFacts, type DomainFacts, readContainer, readDomains, wordFor } from './provider-a-answers.ts'
import {
  type ContainerLimits,
  errorText,
  judgeContainer,
  judgeDomain,
  type Legend,
  usedPercent,
} from './provider-a-judge.ts'
import type { HostingCheck } from './provider-b.ts'

export interface ProviderAOptions {
  containerId: string
  /** Without a slash at its end. */
  apiUrl: string
  token: string
  /** For keys that see several workspaces. */
  workspace: string | undefined
  limits: ContainerLimits
  /** What the last run left. */
  memory: JsonObject
}

const WHO = 'the API of hosting provider A'

/** Asks provider A for its container, the container's domains and, once a day, for what its values mean. */
export async function checkProviderA(
  caller: HostingTools,
  options: ProviderAOptions,
): Promise<HostingCheck & { memory: JsonObject }> {
  const { containerId, token, workspace, limits } = options
  const headers = { 'x-auth-token': token, ...(workspace === undefined ? {} : { 'x-workspace': workspace }) }
  const ask = (url: string) => askJson(caller, WHO, url, headers)
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
    ...facts.map((domain) => judgeDomain(domain, kept.legend, limits.ok_statuses)),
    // An interface without this part has nothing to say about domains.
    ...(domains.isAnswer || domains.status === 404 ? [] : [domains.finding]),
  ]
  return {
    findings,
    summary: findings[0]?.message ?? '',
    details: containerDetails(containerId, container, facts, kept.legend),
    totalMs: place.answer.totalMs,
    failure: domains.isAnswer ? undefined : domains.failure,
    memory: { base, legend: legendInMemory(kept) },
  }
}

interface Place {
  base: string
  url: string
  answer: HostingAnswer
}

/** The container in the region that knows it, beginning with the one that did the last time; or why there is none. */
async function findContainer(ask: Ask, { containerId, apiUrl, memory }: ProviderAOptions): Promise<Place> {
  const bases = regionsOf(apiUrl).toSorted((a, b) => Number(b === memory.base) - Number(a === memory.base))
  const tried: Place[] = []
  for (const base of bases) {
    const url = `${base}/containers/${encodeURIComponent(containerId)}`
    const answer = await ask(url)
    const place = { base, url, answer }
    if (answer.isAnswer || !mayBeElsewhere(answer.status)) return place
    tried.push(place)
  }
  // A region that knows the key but not the container weighs more than one that knows neither.
  const place = tried.find(({ answer }) => !answer.isAnswer && answer.status === 404) ?? tried[0]
  if (place === undefined) throw new Error('there is no region to ask')
  if (place.answer.isAnswer || place.answer.status !== 404) return place
  const message = `hosting provider A knows no container ${containerId}: it was deleted, or the key belongs to another account`
  return { ...place, answer: { ...place.answer, finding: { check: 'hosting', status: 'critical', message } } }
}

/** What a region says of containers and keys of the other. */
const mayBeElsewhere = (status: number | null): boolean => status === 404 || status === 401 || status === 403

/** Accounts live in one of two regions, each of which knows its own. Another address than the usual one is taken as it is. */
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
    domains: domains.map(({ name, status, error, records }) => ({
      name,
      status: wordFor(status, legend.domainStatuses),
      error: errorText(error, legend.domainErrors),
      records,
    })),
  }
}
