import { asError } from '../../lib/index.ts'
import { type Outbound, OutboundError } from '../../outbound/index.ts'
import type { ProbeContext } from '../probe-type.ts'
import { bodyOf } from '../types/fetched-body.ts'
import { PageReadError, type Pages } from '../types/pages.ts'
import type { Part } from './judge.ts'

const PAGE_BYTES = 1_024 * 1_024
const MAX_REDIRECTS = 5
const LATE = 'it did not answer in time'

/** Judges whether the site's page loads the published version. A page that cannot be read is left to other checks. */
export async function checkPage(
  { outbound, pages }: { outbound: Outbound; pages: Pages },
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
    const { isTruncated } = answer
    const { parameters, environment, isLive } = await pages.read('environment', { body: bodyOf(answer) }, signal)
    // The unread rest may contain a loader.
    if (isLive && isTruncated) return notRead('only its first 1 MB was read')
    if (isLive) return { status: 'ok', message: '', details: { checked: true, parameters, environment } }
    const which = environment === null ? '' : ` ${environment}`
    return {
      status: 'warning',
      message: `The page loads an environment or preview${which} of the web container instead of the published version (${parameters.join(', ')})`,
      details: { checked: true, parameters, environment, reason: 'preview_environment' },
    }
  } catch (thrown) {
    if (signal.aborted) return notRead(LATE)
    if (thrown instanceof OutboundError || thrown instanceof PageReadError) return notRead(thrown.message)
    throw thrown
  }
}

const notRead = (why: string): Part => ({ status: 'ok', message: '', details: { checked: false, why } })

/** The result of reading a container's `gtm.js`. */
type Script =
  | { kind: 'version'; version: string; tookMs: number }
  /** The container does not exist, or has never been published. */
  | { kind: 'missing'; tookMs: number }
  /** `tookMs` is null without an answer. */
  | { kind: 'unreadable'; why: string; tookMs: number | null; thrown?: unknown }

/** The version is at the beginning, but containers with large templates are over 1 MB long. */
const SCRIPT_BYTES = 2 * 1_024 * 1_024

/** @param base of the server, including the path before `/gtm.js`, without a trailing slash */
export async function readScript(
  { outbound, pages, signal, timeoutMs }: Pick<ProbeContext<unknown>, 'outbound' | 'pages' | 'signal' | 'timeoutMs'>,
  base: string,
  containerId: string,
): Promise<Script> {
  try {
    const answer = await outbound.fetchBytes(`${base}/gtm.js?id=${encodeURIComponent(containerId)}`, {
      headers: { accept: 'application/javascript, */*' },
      limits: { bodyBytes: SCRIPT_BYTES, totalMs: timeoutMs },
      signal,
    })
    const tookMs = answer.timings.total
    if (answer.status === 404) return { kind: 'missing', tookMs }
    if (answer.status !== 200) return { kind: 'unreadable', why: `it answers ${answer.status}`, tookMs }
    const version = await pages.read('publishedVersion', { body: bodyOf(answer) }, signal)
    if (version === null) return { kind: 'unreadable', why: 'its answer contains no version', tookMs }
    return { kind: 'version', version, tookMs }
  } catch (thrown) {
    if (thrown instanceof PageReadError) return { kind: 'unreadable', why: thrown.message, tookMs: null }
    if (!(thrown instanceof OutboundError) && !signal.aborted) throw thrown
    const why = signal.aborted ? 'it did not answer in time' : asError(thrown).message
    return { kind: 'unreadable', why, tookMs: null, thrown }
  }
}
