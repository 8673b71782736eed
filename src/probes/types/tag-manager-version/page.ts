import { type Outbound, OutboundError } from '../../../lib/index.ts'
import { bodyOf, PageReadError, type PageReader } from '../pages.ts'
import type { Part } from './judge.ts'

const PAGE_BYTES = 1_024 * 1_024
const MAX_REDIRECTS = 5
const LATE = 'it did not answer in the time of the check'

/** Whether the site's page loads what is published. A page that cannot be read is for other checks to judge. */
export async function checkPage(
  { outbound, pages }: { outbound: Outbound; pages: PageReader },
  url: string,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Part> {
  try {
    const answer = await outbound.fetchBytes(url, {
      headers: { accept: 'text/html' },
      maxRedirects: MAX_REDIRECTS,
      limits: { bodyBytes: PAGE_BYTES, totalMs: timeoutMs },
      signal,
    })
    if (answer.status !== 200) return notRead(`it answers ${answer.status}`)
    const { parameters, environment } = await pages.read('environment', { body: bodyOf(answer) }, signal)
    if (parameters.length === 0) return { status: 'ok', message: '', details: { checked: true, parameters } }
    const which = environment === null ? '' : ` ${environment}`
    return {
      status: 'warning',
      message: `The page loads an environment or preview${which} of the web container instead of what is published (${parameters.join(', ')})`,
      details: { checked: true, parameters, environment, reason: 'preview_environment' },
    }
  } catch (thrown) {
    if (signal.aborted) return notRead(LATE)
    if (thrown instanceof OutboundError || thrown instanceof PageReadError) return notRead(thrown.message)
    throw thrown
  }
}

const notRead = (why: string): Part => ({ status: 'ok', message: '', details: { checked: false, why } })
