import { type JsonObject, objectIn } from './check-finding.ts'
import { type ContainerLimits, checkProviderA } from './hosting-a.ts'
import type { HostingTools } from './hosting-api.ts'
import { checkProviderB, type HostingCheck } from './hosting-b.ts'

interface HostingSite {
  hosting_a_container_id: string | null
  hosting_b_container_id: string | null
}

/** Where the hosts are asked; null = not set up. */
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

/** What provider A says of the site's container; null for a site without one there. */
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
      'hosting provider A cannot be asked without a key: set HOSTING_A_TOKEN, or hosting_a_token of this probe'
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
 * What provider B says of the site's container; null for a site without one there. No interface of that host is known: without
 * a status address it is judged from outside, where that can be done.
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
    return error('hosting provider B cannot be asked: set HOSTING_B_STATUS_URL, or give the site a tag_server_url')
  }
  return checkProviderB(caller, {
    containerId,
    statusUrl,
    token: config.hosting_b_token ?? hostingBToken,
    jsonPath: config.hosting_b_json_path,
    okStatuses: config.ok_statuses,
  })
}
