import { type Outbound, OutboundError } from '../../../lib/index.ts'
import { publishedVersion } from './published-version.ts'

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
  outbound: Outbound,
  base: string,
  containerId: string,
  signal: AbortSignal,
): Promise<Script> {
  try {
    const answer = await outbound.request(`${base}/gtm.js?id=${encodeURIComponent(containerId)}`, {
      headers: { accept: 'application/javascript, */*' },
      limits: { bodyBytes: SCRIPT_BYTES },
      signal,
    })
    const tookMs = answer.timings.total
    if (answer.status === 404) return { kind: 'missing', tookMs }
    if (answer.status !== 200) return { kind: 'unreadable', why: `it answers ${answer.status}`, tookMs }
    const version = publishedVersion(answer.body)
    if (version === null) return { kind: 'unreadable', why: 'what it answers names no version', tookMs }
    return { kind: 'version', version, tookMs }
  } catch (thrown) {
    if (!(thrown instanceof OutboundError)) throw thrown
    const why = thrown.kind === 'aborted' ? 'it did not answer in the time of the check' : thrown.message
    return { kind: 'unreadable', why, tookMs: null, thrown }
  }
}
