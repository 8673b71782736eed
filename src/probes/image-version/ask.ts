import { fieldsOf } from '../../lib/index.ts'
import type { OutboundAnswer } from '../../outbound/index.ts'
import type { JsonObject } from '../probe-type.ts'
import { shownAddress } from '../tag-server/addresses.ts'
import { providerFailure } from '../tag-server/ask.ts'
import { findContainer, providerAsk } from '../tag-server/hosting-a.ts'
import { unwrapped } from '../tag-server/hosting-a-answers.ts'
import type { HostingTools } from '../tag-server/hosting-api.ts'
import { type ReadVersion, versionAt, versionInAnswer, versionUnder } from './read.ts'

/** A source's answer, or a sentence why the version is unknown. */
export type ImageAnswer =
  | { version: string; source: string; tookMs: number; memory: JsonObject }
  | { version: null; why: string; reason: 'no_source' | 'unreadable'; source: string | null; thrown?: unknown }

const BODY_BYTES = 64 * 1_024

/**
 * Requests an address of the user's own. Redirects are not followed, because the token is for this address only.
 *
 * @param pointer where its JSON has the version (RFC 6901)
 */
export async function askAddress(
  { outbound, timeoutMs, signal }: HostingTools,
  { url, token, pointer }: { url: string; token: string | undefined; pointer: string | undefined },
): Promise<ImageAnswer> {
  const source = shownAddress(url)
  let answer: OutboundAnswer
  try {
    answer = await outbound.request(url, {
      headers: {
        accept: 'application/json, text/plain;q=0.9, */*;q=0.1',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      limits: { totalMs: timeoutMs, bodyBytes: BODY_BYTES },
      signal,
    })
  } catch (thrown) {
    const { message } = providerFailure('image', source, thrown, timeoutMs)
    return { version: null, reason: 'unreadable', why: message, source, thrown }
  }
  const read: ReadVersion = problemOf(answer, token !== undefined) ?? versionInAnswer(answer.body, pointer)
  if ('version' in read) return { ...read, source, tookMs: answer.timings.total, memory: {} }
  return { version: null, reason: 'unreadable', why: `The answer of ${source} ${read.why}`, source }
}

/** Returns the problem as words that follow “the answer of …”; null when the body can be read. */
function problemOf({ status, location, isTruncated }: OutboundAnswer, hasToken: boolean): { why: string } | null {
  if (location !== null) return { why: `redirects (${status}) to ${shownAddress(location)}, which is not followed` }
  if (status === 401 || status === 403)
    return { why: `is ${status}: it ${hasToken ? 'does not accept the' : 'requires a'} version_token` }
  if (status < 200 || status > 299) return { why: `is ${status}` }
  return isTruncated ? { why: 'is longer than 64 kB' } : null
}

/**
 * Names under which provider A's container may have the version. Its public models contain none, so most containers have none
 * of them.
 */
const NAMES_OF_A = ['imageVersion', 'serverVersion', 'sGtmVersion'] as const

interface ProviderA {
  containerId: string
  apiUrl: string
  token: string
  workspace: string | undefined
  /** Remembers the region that knew the container the last time. */
  memory: JsonObject
  pointer: string | undefined
}

/** Reads the version from the container at hosting provider A. */
export async function askProviderA(caller: HostingTools, options: ProviderA): Promise<ImageAnswer> {
  const { containerId, pointer } = options
  const source = `container ${containerId} at hosting provider A`
  const { base, answer } = await findContainer(providerAsk(caller, options), options)
  if (!answer.isAnswer) {
    return { version: null, reason: 'unreadable', why: answer.finding.message, source, thrown: answer.failure }
  }
  const read =
    pointer === undefined ? versionUnder(fieldsOf(unwrapped(answer.body)), NAMES_OF_A) : versionAt(answer.body, pointer)
  if ('version' in read) return { ...read, source, tookMs: answer.totalMs, memory: { base } }
  const why = `The answer about ${source} ${read.why}, or set version_url`
  return { version: null, reason: 'unreadable', why, source }
}
