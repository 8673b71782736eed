import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { KeyIndex } from './key-index.ts'
import type { SampleRecorder } from './samples.ts'

type Request = Pick<IncomingMessage, 'headers' | 'method' | 'url'>

/** Headers in which other services take a key: lower-cased, and as usually written. */
const OTHER_HEADERS: Readonly<Record<string, string>> = {
  authorization: 'Authorization',
  'x-api-key': 'X-Api-Key',
  'api-key': 'Api-Key',
  'x-auth-token': 'X-Auth-Token',
  'x-access-token': 'X-Access-Token',
  'x-ingest-key': 'X-Ingest-Key',
  'x-service-key': 'X-Service-Key',
}

/** A text shaped like an ingest key, with no character beside it that could belong to one. */
const KEY_SHAPED = /(?<![\w-])[\w-]{43}(?![\w-])/g
/** Texts looked up in each place: an address may hold hundreds. */
const CANDIDATES_MAX = 3
const METHODS_NAMED: readonly string[] = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** A text in a request that may be a misplaced key. */
interface Candidate {
  text: string
  /** `header X-Api-Key` */
  where: string
}

/** The ingest key where it belongs: the first of the headers that is present and not empty. */
export function keyIn(headers: IncomingHttpHeaders, keyHeaders: readonly string[]): string | undefined {
  for (const name of keyHeaders) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

export interface MistakesOptions {
  keys: Pick<KeyIndex, 'find'>
  samples: Pick<SampleRecorder, 'rejected' | 'rejectedOfNoSite'>
  keyHeaders: readonly string[]
}

/**
 * Recognises what senders get wrong in their first hour, and shows it to the site's owner. A misplaced key tells whose request it
 * was; a request without one is counted under no site. The names of mistakes are fixed and nothing else of a request is kept, so
 * that no sender can fill memory or the store. The answer does not change: a key in the wrong place opens nothing.
 */
export class Mistakes {
  readonly #options: MistakesOptions

  constructor(options: MistakesOptions) {
    this.#options = options
  }

  /** A request to ingest without a site's key. @param key what the key header holds */
  withoutSite(request: Request, key: string | undefined, now: number): void {
    const { samples } = this.#options
    const found = this.#misplaced(request)
    if (found.site !== undefined) samples.rejected(found.site.siteNo, 'unauthorized', found.where, now)
    else if (key !== undefined) samples.rejectedOfNoSite(isKeyShaped(key) ? 'unauthorized' : 'malformed_key', now)
    else samples.rejectedOfNoSite(found.isKeyShaped ? 'misplaced_key' : 'no_key', now)
  }

  /** A request to ingest that is not a POST. */
  wrongMethod(request: Request, now: number): void {
    const { samples } = this.#options
    const site = this.#siteOf(request)
    const method = METHODS_NAMED.find((name) => name === request.method) ?? 'other'
    if (site === undefined) samples.rejectedOfNoSite('method_not_allowed', now)
    else samples.rejected(site.siteNo, 'method_not_allowed', method, now)
  }

  /** A request to any other address. It was meant for ingest if it carries a site's key. */
  wrongAddress({ headers }: Request, now: number): void {
    const { keys, samples, keyHeaders } = this.#options
    const key = keyIn(headers, keyHeaders)
    const site = key === undefined ? undefined : keys.find(key)?.site
    if (site !== undefined) samples.rejected(site.siteNo, 'not_found', 'address', now)
  }

  #siteOf(request: Request) {
    const { keys, keyHeaders } = this.#options
    const key = keyIn(request.headers, keyHeaders)
    return (key === undefined ? undefined : keys.find(key)?.site) ?? this.#misplaced(request).site
  }

  /** The site whose key is in the wrong place, and whether any text there looks like a key. */
  #misplaced(request: Request) {
    const { keys, keyHeaders } = this.#options
    let seen = false
    for (const { text, where } of candidates(request, keyHeaders)) {
      let looked = 0
      for (const [shaped] of text.matchAll(KEY_SHAPED)) {
        if (++looked > CANDIDATES_MAX) break
        seen = true
        const site = keys.find(shaped)?.site
        if (site !== undefined) return { site, where, isKeyShaped: true }
      }
    }
    return { site: undefined, where: '', isKeyShaped: seen }
  }
}

const isKeyShaped = (key: string): boolean => /^[\w-]{43}$/.test(key)

/** The texts of a request in which people have put the key, and where they are. */
function* candidates({ headers, url = '' }: Request, keyHeaders: readonly string[]): Generator<Candidate> {
  const key = keyIn(headers, keyHeaders)
  if (key !== undefined && !isKeyShaped(key)) yield { text: key, where: 'key header with more than the key' }
  for (const [name, written] of Object.entries(OTHER_HEADERS)) {
    const value = headers[name]
    if (typeof value !== 'string' || keyHeaders.includes(name)) continue
    yield { text: name === 'authorization' ? credentialsOf(value) : value, where: `header ${written}` }
  }
  const query = url.indexOf('?')
  if (query !== -1) yield { text: url.slice(query + 1), where: 'query of the address' }
}

/** The credentials in `Authorization`: name and password of `Basic`, otherwise the value itself. */
function credentialsOf(value: string): string {
  const [, encoded] = /^Basic +(\S+)$/i.exec(value) ?? []
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('latin1')
}
