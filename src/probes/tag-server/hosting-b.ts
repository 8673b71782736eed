import type { CheckFinding } from './check-finding.ts'
import { askJson, type HostingTools, judgeStatus } from './hosting-api.ts'

interface ProviderBOptions {
  containerId: string
  /** With `{container_id}` in it. */
  statusUrl: string
  token: string | null
  /** Where the answer has the status: names and numbers separated by dots, e.g. `data.0.status`. */
  jsonPath: string
  okStatuses: readonly string[]
}

export interface HostingCheck {
  findings: readonly CheckFinding[]
  /** What is said when nothing is wrong; empty when nothing is known. */
  summary: string
  details: Readonly<Record<string, unknown>>
  /** How long the host's interface took, ms; null when it did not answer. */
  totalMs: number | null
  failure: unknown
}

const WHO = 'the status address of hosting provider B'

/** Asks a host that has no interface of its own that is known: whatever answers its container's status as JSON. */
export async function checkProviderB(caller: HostingTools, options: ProviderBOptions): Promise<HostingCheck> {
  const { containerId, statusUrl, token, jsonPath, okStatuses } = options
  const url = statusUrl.replaceAll('{container_id}', encodeURIComponent(containerId))
  const answer = await askJson(caller, WHO, url, token === null ? {} : { authorization: `Bearer ${token}` })
  if (!answer.isAnswer) {
    const finding: CheckFinding =
      answer.status === 404
        ? { check: 'hosting', status: 'critical', message: `hosting provider B knows no container ${containerId}` }
        : answer.finding
    return { findings: [finding], summary: '', details: {}, totalMs: null, failure: answer.failure }
  }
  const label = statusAt(answer.body, jsonPath)
  const finding: CheckFinding =
    label === null
      ? { check: 'hosting', status: 'error', message: `${WHO} has no status at ${JSON.stringify(jsonPath)}` }
      : judgeStatus('hosting', `container ${containerId} at hosting provider B`, label, okStatuses)
  return {
    findings: [finding],
    summary: finding.message,
    details: { container_id: containerId, status: label, json_path: jsonPath },
    totalMs: answer.totalMs,
    failure: undefined,
  }
}

/** The status as a word; null when there is none at the path. */
function statusAt(body: unknown, jsonPath: string): string | null {
  let value = body
  for (const name of jsonPath.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  if (typeof value === 'boolean') return value ? 'ok' : 'down'
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 100) : null
}
