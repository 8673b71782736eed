import type { CheckFinding } from '../check-finding.ts'
import { type ContainerFacts, type DomainFacts, type Option, type Words, wordFor } from './provider-a-answers.ts'
import { judgeStatus } from './status-words.ts'

/** What the numbers of provider A's answers mean, as it says itself. */
export interface Legend {
  containerStatuses: Words
  domainStatuses: Words
  domainErrors: Words
}

export interface ContainerLimits {
  ok_statuses: readonly string[]
  usage_warning_percent: number
}

export function judgeContainer(
  id: string,
  container: ContainerFacts,
  { containerStatuses }: Legend,
  limits: ContainerLimits,
): CheckFinding[] {
  const what = `container ${id} at hosting provider A`
  const word = wordFor(container.status, containerStatuses)
  const status: CheckFinding =
    word === null
      ? { check: 'hosting', status: 'error', message: `${what} comes without a status` }
      : judgeStatus('hosting', what, word, limits.ok_statuses)
  const [first] = container.warnings
  const warned: CheckFinding[] =
    first === undefined
      ? []
      : [{ check: 'hosting_warning', status: 'warning', message: `hosting provider A warns: ${first}` }]
  return [status, ...warned, ...judgeUsage(container, limits)]
}

/** The part of the plan's requests that are used; null when either is not known. */
export const usedPercent = ({ usage, requestsLimit }: ContainerFacts): number | null =>
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

export function judgeDomain(domain: DomainFacts, legend: Legend, okStatuses: readonly string[]): CheckFinding {
  const { name } = domain
  const error = errorText(domain.error, legend.domainErrors)
  if (error !== null) {
    return { check: 'hosting_domain', status: 'critical', message: `hosting provider A finds ${name} wrong: ${error}` }
  }
  const word = wordFor(domain.status, legend.domainStatuses)
  if (word === null) return { check: 'hosting_domain', status: 'ok', message: `${name} has no error` }
  return judgeStatus('hosting_domain', `domain ${name} at hosting provider A`, word, okStatuses)
}

/** Null where the value for errors says that there is none. */
export function errorText(error: Option | null, words: Words): string | null {
  const text = error === null ? null : wordFor(error, words)
  return text === null || /^(0|none|ok|null|success|(no|without)[ _-]?errors?)$/i.test(text) ? null : text
}
