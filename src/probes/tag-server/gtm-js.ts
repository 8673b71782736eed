import type { OutboundAnswer } from '../../outbound/index.ts'
import { gtmJsUrl, shownAddress } from './addresses.ts'
import { failureDetails, type RequestTools, targetFailure } from './ask.ts'
import type { CheckFinding } from './check-finding.ts'

/** Whether the tag server serves the web container's script itself. */
export interface ProxiedScript {
  isServed: boolean
  /** What was answered, in a few words. */
  answered: string
  details: { url: string; status: number; content_type: string | null }
}

/** The script's beginning shows what it is. */
const BODY_BYTES = 4 * 1_024
/** Characters of it; a header may have 64 kB. */
const CONTENT_TYPE_MAX = 200

/** @throws OutboundError when the tag server comes to no answer */
export async function askGtmJs(
  { outbound, timeoutMs, signal }: RequestTools,
  tagServerUrl: string,
  containerId: string,
): Promise<ProxiedScript> {
  const url = gtmJsUrl(tagServerUrl, containerId)
  const answer = await outbound.request(url, { limits: { totalMs: timeoutMs, bodyBytes: BODY_BYTES }, signal })
  return readGtmJs(url, answer)
}

export function readGtmJs(url: string, answer: Pick<OutboundAnswer, 'status' | 'headers' | 'body'>): ProxiedScript {
  const { status, headers, body } = answer
  const contentType = headers['content-type']?.slice(0, CONTENT_TYPE_MAX) ?? null
  const isScript = /\b(x-)?(java|ecma)script\b/i.test(contentType ?? '') && !/^\s*(<|$)/.test(body)
  const where = shownAddress(url)
  return {
    isServed: status === 200 && isScript,
    answered:
      status === 200 && !isScript
        ? `${where} answered 200 without a script (${contentType ?? 'no content type'})`
        : `${where} answered ${status}`,
    details: { url: where, status, content_type: contentType },
  }
}

/** The check for tag servers that have to serve it. */
export async function checkGtmJs(
  tools: RequestTools,
  tagServerUrl: string,
  containerId: string | null,
): Promise<{ findings: readonly CheckFinding[]; details: object | null; failure: unknown }> {
  if (containerId === null) {
    const message = 'the site has no tag_manager_web_container_id, whose gtm.js is to be checked'
    return { findings: [{ check: 'gtm_js', status: 'error', message }], details: null, failure: undefined }
  }
  try {
    const { isServed, answered, details } = await askGtmJs(tools, tagServerUrl, containerId)
    const status = isServed ? 'ok' : 'critical'
    return { findings: [{ check: 'gtm_js', status, message: answered }], details, failure: undefined }
  } catch (failure) {
    const url = gtmJsUrl(tagServerUrl, containerId)
    return {
      findings: [targetFailure('gtm_js', url, failure, tools.timeoutMs)],
      details: failureDetails(failure),
      failure,
    }
  }
}
