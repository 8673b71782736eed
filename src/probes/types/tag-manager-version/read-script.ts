import { asError, type Outbound, OutboundError } from '../../../lib/index.ts'
import { bodyOf, PageReadError, type PageReader } from '../pages.ts'

/** What `gtm.js` of a container says. */
export type Script =
  | { kind: 'version'; version: string; tookMs: number }
  /** The container does not exist, or nothing of it was ever published. */
  | { kind: 'missing'; tookMs: number }
  /** `tookMs` is null when nothing came back. */
  | { kind: 'unreadable'; why: string; tookMs: number | null; thrown?: unknown }

/** The version stands at the beginning; containers with large templates are over a MB long. */
const SCRIPT_BYTES = 2 * 1_024 * 1_024

/** @param base of the server, with the path before `/gtm.js`, without a slash at its end */
export async function readScript(
  { outbound, pages }: { outbound: Outbound; pages: PageReader },
  base: string,
  containerId: string,
  signal: AbortSignal,
): Promise<Script> {
  try {
    const answer = await outbound.fetchBytes(`${base}/gtm.js?id=${encodeURIComponent(containerId)}`, {
      headers: { accept: 'application/javascript, */*' },
      limits: { bodyBytes: SCRIPT_BYTES },
      signal,
    })
    const tookMs = answer.timings.total
    if (answer.status === 404) return { kind: 'missing', tookMs }
    if (answer.status !== 200) return { kind: 'unreadable', why: `it answers ${answer.status}`, tookMs }
    const version = await pages.read('publishedVersion', { body: bodyOf(answer) }, signal)
    if (version === null) return { kind: 'unreadable', why: 'what it answers names no version', tookMs }
    return { kind: 'version', version, tookMs }
  } catch (thrown) {
    if (thrown instanceof PageReadError) return { kind: 'unreadable', why: thrown.message, tookMs: null }
    if (!(thrown instanceof OutboundError) && !signal.aborted) throw thrown
    const why = signal.aborted ? 'it did not answer in the time of the check' : asError(thrown).message
    return { kind: 'unreadable', why, tookMs: null, thrown }
  }
}
