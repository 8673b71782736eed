import { type Outbound, OutboundError } from '../../../lib/index.ts'
import type { Part } from './judge.ts'

const PAGE_BYTES = 1_024 * 1_024
const MAX_REDIRECTS = 5

/**
 * Parameters that a loader only has when it loads an environment or a preview instead of what is published. They stand in the
 * snippet's text or in a URL, where `&` may be written as `&amp;` or `\x26`.
 */
const PARAMETERS = /(?:[?&;]|\\x26|\\u0026)(gtm_preview|gtm_auth|gtm_debug)=([\w-]{0,64})/g

/** The parameters in a page's text; never their values, except the environment's name: `gtm_auth` is a key. */
export function environmentOf(html: string): { parameters: string[]; environment: string | null } {
  const found = [...html.matchAll(PARAMETERS)]
  const preview = found.find(([, name]) => name === 'gtm_preview')
  return {
    parameters: [...new Set(found.flatMap(([, name]) => (name === undefined ? [] : [name])))].sort(),
    environment: preview?.[2] ?? null,
  }
}

/** Whether the site's page loads what is published. A page that cannot be read is for other checks to judge. */
export async function checkPage(
  outbound: Outbound,
  url: string,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Part> {
  try {
    const answer = await outbound.request(url, {
      headers: { accept: 'text/html' },
      maxRedirects: MAX_REDIRECTS,
      limits: { bodyBytes: PAGE_BYTES, totalMs: timeoutMs },
      signal,
    })
    if (answer.status !== 200) return notRead(`it answers ${answer.status}`)
    const { parameters, environment } = environmentOf(answer.body)
    if (parameters.length === 0) return { status: 'ok', message: '', details: { checked: true, parameters } }
    const which = environment === null ? '' : ` ${environment}`
    return {
      status: 'warning',
      message: `The page loads an environment or preview${which} of the web container instead of what is published (${parameters.join(', ')})`,
      details: { checked: true, parameters, environment, reason: 'preview_environment' },
    }
  } catch (thrown) {
    if (!(thrown instanceof OutboundError)) throw thrown
    return notRead(thrown.kind === 'aborted' ? 'it did not answer in the time of the check' : thrown.message)
  }
}

const notRead = (why: string): Part => ({ status: 'ok', message: '', details: { checked: false, why } })
