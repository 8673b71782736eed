import { type ContainerLimits, checkProviderA } from './hosting-a.ts'
import { askJson, type HostingCheck, type HostingTools, judgeStatus } from './hosting-api.ts'
import { type CheckFinding, type JsonObject, objectIn } from './judge.ts'

interface HostingSite {
  hosting_a_container_id: string | null
  hosting_b_container_id: string | null
}

/** Addresses and keys of the hosts; null = not configured. */
interface HostingSettings {
  hostingAApiUrl: string
  hostingAToken: string | null
  hostingBStatusUrl: string | null
  hostingBToken: string | null
}

interface HostingConfig extends ContainerLimits {
  hosting_a_workspace?: string
  hosting_a_token?: string
  hosting_b_token?: string
  hosting_b_json_path: string
}

const error = (message: string): HostingCheck => ({
  findings: [{ check: 'hosting', status: 'error', message }],
  summary: '',
  details: {},
  totalMs: null,
  failure: undefined,
})

/** Checks the site's container at provider A; null when the site has none there. */
export async function checkHostingA(
  caller: HostingTools,
  { hosting_a_container_id: containerId }: HostingSite,
  settings: HostingSettings,
  config: HostingConfig,
  memory: JsonObject,
): Promise<(HostingCheck & { memory: JsonObject }) | null> {
  const token = config.hosting_a_token ?? settings.hostingAToken
  const before = objectIn(memory.hosting_a)
  if (containerId === null) return null
  if (token === null) {
    const wanted =
      'hosting provider A cannot be queried without a key: set HOSTING_A_TOKEN, or hosting_a_token of this probe'
    return { ...error(wanted), memory: before }
  }
  return checkProviderA(caller, {
    containerId,
    apiUrl: settings.hostingAApiUrl,
    token,
    workspace: config.hosting_a_workspace,
    limits: config,
    memory: before,
  })
}

/**
 * Checks the site's container at provider B; null when the site has none there. That host has no known API: without a status
 * address, the container is judged from outside, if possible.
 */
export async function checkHostingB(
  caller: HostingTools,
  site: HostingSite & { tag_server_url: string | null },
  { hostingBStatusUrl: statusUrl, hostingBToken }: HostingSettings,
  config: HostingConfig,
): Promise<HostingCheck | null> {
  const { hosting_b_container_id: containerId } = site
  if (containerId === null) return null
  if (statusUrl === null) {
    if (site.tag_server_url !== null) return null
    return error('hosting provider B cannot be queried: set HOSTING_B_STATUS_URL, or give the site a tag_server_url')
  }
  return checkProviderB(caller, {
    containerId,
    statusUrl,
    token: config.hosting_b_token ?? hostingBToken,
    jsonPath: config.hosting_b_json_path,
    okStatuses: config.ok_statuses,
  })
}

interface ProviderBOptions {
  containerId: string
  /** Contains `{container_id}`. */
  statusUrl: string
  token: string | null
  /** Where the answer has the status: names and numbers separated by dots, e.g. `data.0.status`. */
  jsonPath: string
  okStatuses: readonly string[]
}

const WHO = 'the status address of hosting provider B'

/** Reads the status from any address that returns it as JSON, because no API of this host is known. */
async function checkProviderB(caller: HostingTools, options: ProviderBOptions): Promise<HostingCheck> {
  const { containerId, statusUrl, token, jsonPath, okStatuses } = options
  const url = statusUrl.replaceAll('{container_id}', encodeURIComponent(containerId))
  const answer = await askJson(caller, WHO, url, token === null ? {} : { authorization: `Bearer ${token}` })
  if (!answer.isAnswer) {
    const finding: CheckFinding =
      answer.status === 404 && !answer.isPage
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

/** The status as text; null when there is none at the path. */
function statusAt(body: unknown, jsonPath: string): string | null {
  let value = body
  for (const name of jsonPath.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  if (typeof value === 'boolean') return value ? 'ok' : 'down'
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 100) : null
}
