import { asError } from '../../lib/index.ts'
import { type Outbound, OutboundError } from '../../outbound/index.ts'
import { bodyOf, PageReadError, type PageReader } from '../types/pages.ts'
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

/** What `gtm.js` of a container says. */
type Script =
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

/**
 * The published version in the text of `gtm.js`, null when there is none. The script starts with an object whose `resource`
 * has it as `"version":"42"`. Tags, templates and consent settings further on have versions of their own, and strings may
 * hold whatever people wrote: so only a key of `resource` itself counts. The text may end anywhere.
 */
export function publishedVersion(script: string): string | null {
  let depth = 0
  /** How deep the keys of `resource` are; null before it. */
  let inside: number | null = null
  let key: string | null = null
  for (const token of tokensOf(script)) {
    if (token === '{' || token === '[') {
      depth++
      if (inside === null && token === '{' && key === 'resource') inside = depth
      key = null
    } else if (token === '}' || token === ']') {
      depth--
      if (inside !== null && depth < inside) return null
    } else if (token === ',') {
      key = null
    } else if (token !== ':') {
      if (key === 'version' && depth === inside) return token.slice(1)
      key = token.slice(1)
    }
  }
  return null
}

/**
 * Brackets, colons and commas as they are, strings as `"` and their content; comments and everything else are left out. Ends
 * where a string or a comment is cut off by the end of the text.
 */
function* tokensOf(script: string): Generator<string> {
  for (let at = 0; at < script.length; at++) {
    const char = script.charAt(at)
    if ('{}[]:,'.includes(char)) yield char
    else if (char === '"' || char === "'") {
      const end = endOfString(script, at)
      if (end === -1) return
      yield `"${script.slice(at + 1, end)}`
      at = end
    } else if (char === '/') {
      const mark = { '/': '\n', '*': '*/' }[script.charAt(at + 1)]
      if (mark === undefined) continue
      const end = script.indexOf(mark, at + 2)
      if (end === -1) return
      at = end + mark.length - 1
    }
  }
}

/** Where the closing quote stands; -1 without one. */
function endOfString(script: string, start: number): number {
  const quote = script[start]
  for (let at = start + 1; at < script.length; at++) {
    if (script[at] === '\\') at++
    else if (script[at] === quote) return at
  }
  return -1
}

/**
 * Parameters that a loader only has when it loads an environment or a preview instead of what is published. They stand in the
 * snippet's text or in a URL, where `&` may be written as `&amp;` or `\x26`.
 */
const PARAMETERS = /(?:[?&;]|\\x26|\\u0026)(gtm_preview|gtm_auth|gtm_debug)=([\w-]{0,64})/g

export interface Environment {
  parameters: string[]
  /** Its name; null without one. */
  environment: string | null
}

/** The parameters in a page's text; never their values, except the environment's name: `gtm_auth` is a key. */
export function environmentOf(html: string): Environment {
  const found = new Map<string, string>()
  for (const [, name = '', value = ''] of html.matchAll(PARAMETERS)) if (!found.has(name)) found.set(name, value)
  return { parameters: [...found.keys()].sort(), environment: found.get('gtm_preview') ?? null }
}
