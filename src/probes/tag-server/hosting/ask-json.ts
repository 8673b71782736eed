import { parseForeignJson, retryAfterMs, SECOND } from '../../../lib/index.ts'
import type { RequestTools } from '../ask.ts'
import type { CheckFinding } from '../check-finding.ts'
import { providerFailure } from '../failure.ts'

export interface HostingTools extends RequestTools {
  /** When the run started, epoch ms. */
  now: number
}

/** What a host's interface answered: JSON, or why there is none. */
export type HostingAnswer =
  | { isAnswer: true; body: unknown; totalMs: number }
  | {
      isAnswer: false
      /** Null without an answer. */
      status: number | null
      finding: CheckFinding
      failure: unknown
    }

/** Asks one address of a host's interface. */
export type Ask = (url: string) => Promise<HostingAnswer>

/**
 * Asks a host's interface. That it is down, slow or of another opinion about our key says nothing about the container.
 *
 * @param who as in `the API of the hosting provider`
 */
export async function askJson(
  { outbound, timeoutMs, signal, now }: HostingTools,
  who: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<HostingAnswer> {
  try {
    const {
      status,
      body,
      headers: answered,
      timings,
    } = await outbound.request(url, {
      headers: { accept: 'application/json', ...headers },
      limits: { totalMs: timeoutMs },
      signal,
    })
    const problem = problemOf(status, retryAfterMs(answered['retry-after'], now))
    const json = problem === null ? parseForeignJson(body) : undefined
    if (json !== undefined) return { isAnswer: true, body: json, totalMs: timings.total }
    const message = `${who} ${problem ?? `answered ${status} with something that is not JSON, or too nested or long`}`
    return { isAnswer: false, status, finding: { check: 'hosting', status: 'error', message }, failure: undefined }
  } catch (failure) {
    const finding = providerFailure('hosting', who, failure, timeoutMs)
    return { isAnswer: false, status: null, finding, failure }
  }
}

function problemOf(status: number, retryMs: number | null): string | null {
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403) {
    return `refuses the key (${status}): it is wrong or has expired, or the plan does not include the API`
  }
  if (status !== 429) return `answered ${status}`
  return `answered 429, too many requests${retryMs === null ? '' : `, for another ${Math.ceil(retryMs / SECOND)} s`}`
}
